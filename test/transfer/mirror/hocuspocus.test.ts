import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { eventually, openEditor } from '../../support/clients/clients.ts'
import { hocuspocusVisitor } from '../../support/clients/hocuspocus-client.ts'
import type { Running } from '../../support/servers/cli.ts'
import {
  startGuardedHocuspocus,
  startHocuspocus,
  startRecorder,
} from '../../support/servers/legacy-servers.ts'
import {
  inStep,
  keepTyping,
  linesOf,
  MirrorSetting,
  sameInWeft,
} from '../../support/servers/mirror-servers.ts'

let at: MirrorSetting

const mirror = (
  names: readonly string[],
  more: readonly string[] = [],
  from = at.old.url,
): Promise<Running> => at.mirror(names, ['--dialect', 'hocuspocus', '--organization', 'acme', ...more], from)

const visit = (name: string, url = at.old.url, token = ''): ReturnType<typeof hocuspocusVisitor> =>
  at.keep(hocuspocusVisitor(url, name, token))

describe.skipIf(process.env.WEFT_TEST_LONG !== '1')('a mirror of Hocuspocus', () => {
  beforeAll(async () => {
    at = await MirrorSetting.open(startHocuspocus)
  })

  afterEach(() => at.endTest())

  afterAll(() => at.end())

  it('[MIRROR-1] copies the stored content and later edits, so that both servers have the same state vector and the same bytes', async () => {
    const ada = visit('notes')
    ada.text.insert(0, 'What was there before. '.repeat(100))
    const stop = keepTyping(ada)
    const running = await mirror(['notes', 'nothing'])
    await running.printed(/"name":"notes","kind":"inStep","isEmpty":false/)
    const seen = ada.text.length
    await eventually(() => ada.text.length > seen + 200)
    stop()
    await sameInWeft(at.weft, 'acme/notes/main', ada.doc)
    running.child.kill('SIGTERM')
    const { code, out } = await running.ended
    expect([code, linesOf(out).at(-1)]).toMatchObject([0, { ok: true, inStep: 2, empty: 1 }])
  })

  it('[MIRROR-2] sends the old server only the token and state vectors', async () => {
    const recorder = at.keep(await startRecorder(at.old.url))
    const ada = visit('asked')
    ada.text.insert(0, 'old')
    const running = await mirror(['asked'], [], recorder.url)
    await running.printed(inStep('asked'))
    const editor = at.keep(openEditor(at.weft.wsUrl, 'acme/asked/main', await at.weft.token()))
    await eventually(() => editor.text.toString() === 'old')
    editor.text.insert(3, ' and new')
    ada.text.insert(0, 'very ')
    await eventually(() => editor.text.toString() === 'very old and new')
    const asked = recorder.said.length
    await eventually(() => recorder.said.length > asked + 1)
    expect(ada.text.toString()).toBe('very old')
    const kinds = new Set(recorder.said.map((bytes) => bytes.subarray(6, 8).toString('hex')))
    expect([...kinds].sort()).toEqual(['0000', '0200'])
  })

  it('[MIRROR-3] [MIRROR-4] continues automatically after either server was killed and started again', async () => {
    const ada = visit('restarted')
    const running = await mirror(['restarted'])
    const stop = keepTyping(ada)
    await running.printed(inStep('restarted'))
    await at.old.end('SIGKILL')
    await running.printed(/"kind":"failed","reason":"the old server: /)
    await at.startOld()
    await at.weft.end('SIGKILL')
    const seen = ada.text.length
    await eventually(() => ada.text.length > seen + 100)
    await at.startWeft()
    stop()
    await sameInWeft(at.weft, 'acme/restarted/main', ada.doc)
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
  })

  it('[MIRROR-10] connects with the token of the old server, and reports if the token is rejected', async () => {
    const guarded = await startGuardedHocuspocus()
    at.keep({ close: () => guarded.end() })
    const ada = visit('guarded', guarded.url, 'sesame')
    ada.text.insert(0, 'kept from others')
    const refused = await (await mirror(['guarded'], ['--once'], guarded.url)).ended
    expect(refused.code).toBe(1)
    expect(linesOf(refused.out).at(-2)).toMatchObject({
      kind: 'failed',
      reason: expect.stringMatching(/^the old server: refuses/),
    })
    const { code } = await (await mirror(['guarded'], ['--once', '--token', 'sesame'], guarded.url)).ended
    expect(code).toBe(0)
    await sameInWeft(at.weft, 'acme/guarded/main', ada.doc)
  })
})
