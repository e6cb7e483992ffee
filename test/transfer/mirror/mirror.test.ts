import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { limits } from '../../../src/model/limits.ts'
import { eventually, openEditor, RawClient } from '../../support/clients/clients.ts'
import { startRecorder, startYWebsocket } from '../../support/servers/legacy-servers.ts'
import {
  inStep,
  keepTyping,
  linesOf,
  MirrorSetting,
  sameInWeft,
  stateOf,
  visitor,
} from '../../support/servers/mirror-servers.ts'
import { itLong } from '../../support/time/full-run.ts'

let at: MirrorSetting

beforeAll(async () => {
  at = await MirrorSetting.open(startYWebsocket)
})

afterEach(() => at.endTest())

afterAll(() => at.end())

const visit = (name: string): ReturnType<typeof visitor> => at.keep(visitor(at.old.url, name))

describe('a mirror of the server of y-websocket', () => {
  it('[MIRROR-1] copies the stored content and later edits, so that both servers have the same state vector and the same bytes', async () => {
    const [ada, grace] = [visit('acme/notes/main'), visit('acme/notes/main')]
    ada.text.insert(0, 'What was there before. '.repeat(100))
    ada.doc.getArray('list').insert(0, [1, { two: [3] }])
    const stop = [keepTyping(ada), keepTyping(grace)]
    const running = await at.mirror(['acme/notes/main', 'acme/nothing/main'])
    await running.printed(inStep('acme/notes/main'))
    const seen = ada.text.length
    await eventually(() => ada.text.length > seen + 200)
    for (const end of stop) end()
    await eventually(() => stateOf(ada.doc).equals(stateOf(grace.doc)))
    await sameInWeft(at.weft, 'acme/notes/main', ada.doc)
    running.child.kill('SIGTERM')
    const { code, out } = await running.ended
    expect([code, linesOf(out).at(-1)]).toMatchObject([0, { ok: true, documents: 2, inStep: 2, empty: 1 }])
  })

  it('[MIRROR-2] sends the old server only state vectors, even after edits in Weft', async () => {
    const recorder = at.keep(await startRecorder(at.old.url))
    const ada = visit('acme/asked/main')
    ada.text.insert(0, 'old')
    const running = await at.mirror(['acme/asked/main'], [], recorder.url)
    await running.printed(inStep('acme/asked/main'))
    const editor = at.keep(openEditor(at.weft.wsUrl, 'acme/asked/main', await at.weft.token()))
    await eventually(() => editor.text.toString() === 'old')
    editor.text.insert(3, ' and new')
    ada.text.insert(0, 'very ')
    await eventually(() => editor.text.toString() === 'very old and new')
    const asked = recorder.said.length
    await eventually(() => recorder.said.length > asked + 1)
    running.child.kill('SIGINT')
    expect((await running.ended).code).toBe(0)
    expect(ada.text.toString()).toBe('very old')
    for (const bytes of recorder.said) expect([...bytes.subarray(0, 2)]).toEqual([0, 0])
  })

  itLong('[MIRROR-3] continues automatically after the old server was killed and started again', async () => {
    const ada = visit('acme/restarted/main')
    const running = await at.mirror(['acme/restarted/main'])
    const stop = keepTyping(ada)
    await running.printed(inStep('acme/restarted/main'))
    await at.old.end('SIGKILL')
    await running.printed(/"kind":"failed","reason":"the old server: /)
    await at.startOld()
    const seen = ada.text.length
    await eventually(() => ada.text.length > seen + 100)
    stop()
    await sameInWeft(at.weft, 'acme/restarted/main', ada.doc)
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
  })

  itLong(
    '[MIRROR-4] continues automatically and without a loss after Weft was killed and started again',
    async () => {
      const ada = visit('acme/killed/main')
      const running = await at.mirror(['acme/killed/main'])
      const stop = keepTyping(ada)
      await running.printed(inStep('acme/killed/main'))
      for (let times = 0; times < 2; times++) {
        const seen = ada.text.length
        await at.weft.end('SIGKILL')
        await eventually(() => ada.text.length > seen + 100)
        await at.startWeft()
      }
      stop()
      await sameInWeft(at.weft, 'acme/killed/main', ada.doc)
      running.child.kill('SIGTERM')
      expect((await running.ended).code).toBe(0)
    },
  )

  itLong(
    '[MIRROR-5] copies missed updates and deletions after the mirror was killed and started again',
    async () => {
      const ada = visit('acme/again/main')
      const stop = keepTyping(ada)
      const first = await at.mirror(['acme/again/main'])
      await first.printed(inStep('acme/again/main'))
      first.child.kill('SIGKILL')
      await first.ended
      const seen = ada.text.length
      await eventually(() => ada.text.length > seen + 100)
      stop()
      ada.text.delete(0, ada.text.length - 5)
      const again = await at.mirror(['acme/again/main'], ['--once'])
      expect((await again.ended).code).toBe(0)
      const bytes = await at.weft.post('/v2/crdt/get', {
        organizationId: 'acme',
        documentId: 'again',
        editorId: 'main',
        type: 'text',
      })
      expect(JSON.stringify(bytes.data)).toContain(JSON.stringify(ada.text.toString()))
      await sameInWeft(at.weft, 'acme/again/main', ada.doc)
    },
  )

  itLong(
    '[MIRROR-6] with `--once`, ends automatically when all stored content is copied, even with many documents',
    async () => {
      const names = Array.from({ length: 120 }, (_, index) => `acme/many ${index}/main`)
      const writers = names.map((name, index) => {
        const writing = visitor(at.old.url, name)
        writing.text.insert(0, `content ${index}`)
        return writing
      })
      await eventually(() => writers.every(({ provider }) => provider.synced))
      for (const { close } of writers) close()
      const running = await at.mirror(names, ['--once', '--parallel', '20'])
      const { code, out } = await running.ended
      expect([code, linesOf(out).at(-1)]).toMatchObject([0, { ok: true, inStep: 120, empty: 0 }])
      for (const index of [0, 60, 119]) {
        const editor = at.keep(openEditor(at.weft.wsUrl, `acme/many%20${index}/main`, await at.weft.token()))
        await eventually(() => editor.text.toString() === `content ${index}`)
      }
    },
  )

  itLong(
    '[MIRROR-7] reports a failing document with its reason, copies the others, and ends with exit code 1',
    async () => {
      const [bad, good] = [visit('acme/bad/main'), visit('acme/good/main')]
      let map = bad.doc.getMap('map')
      for (let depth = 0; depth <= limits.typeDepth; depth += 1) map = map.set('k', new Y.Map())
      good.text.insert(0, 'good')
      await eventually(() => bad.provider.synced && good.provider.synced)
      const running = await at.mirror(['acme/bad/main', 'acme/good/main'], ['--once'])
      const { code, out } = await running.ended
      const lines = linesOf(out)
      expect([code, lines.at(-1)]).toMatchObject([1, { ok: false, inStep: 1, failed: 1 }])
      expect(lines).toContainEqual({
        name: 'acme/bad/main',
        kind: 'failed',
        reason: expect.stringMatching(/^Weft: has closed the connection \(4400, .*nested/),
      })
      await sameInWeft(at.weft, 'acme/good/main', good.doc)
    },
  )

  itLong(
    '[MIRROR-8] on SIGUSR2, compares the documents, and prints the state of each one again',
    async () => {
      const ada = visit('acme/shown/main')
      ada.text.insert(0, 'shown')
      const running = await at.mirror(['acme/shown/main', 'acme/other/main'], ['--check', '45'])
      await running.printed(inStep('acme/other/main'))
      await running.printed(inStep('acme/shown/main'))
      running.child.kill('SIGUSR2')
      await running.printed(new RegExp(`(${inStep('acme/shown/main').source}[^]*){2}`))
    },
  )

  itLong(
    '[MIRROR-9] with wrong credentials, or with a name that is not an address, prints one sentence and ends with exit code 2',
    async () => {
      const wrongName = await (await at.mirror(['no-address'])).ended
      expect([wrongName.code, wrongName.err]).toEqual([
        2,
        'weft: "no-address": its name is not organization/document/editor: name an organization (--organization)\n',
      ])
      const twice = await (await at.mirror(['acme/a/main', 'acme/%61/main'])).ended
      expect([twice.code, twice.err]).toMatchObject([2, expect.stringContaining('have the same target')])
      const { code, err } = await (await at.mirror(['acme/a/main'], ['--api-key', 'another-key'])).ended
      expect([code, err]).toMatchObject([2, expect.stringMatching(/^weft: Weft at .* rejects the API key/)])
    },
  )

  itLong(
    '[MIRROR-14] a document is in step even if the old server has pending updates of this document',
    async () => {
      const ada = visit('acme/gap/main')
      const author = new Y.Doc()
      const updates: Uint8Array[] = []
      author.on('update', (update: Uint8Array) => updates.push(update))
      for (const word of ['lost ', 'waits ']) author.getText('content').insert(0, word)
      const [, waits] = updates
      if (waits === undefined) throw new Error('nothing was typed')
      const raw = await RawClient.connect(`${at.old.url}/acme/gap/main`)
      at.keep({ close: () => raw.end() })
      raw.sendUpdate(waits)
      ada.text.insert(0, 'whole')
      const running = await at.mirror(['acme/gap/main'])
      await running.printed(inStep('acme/gap/main'))
      const editor = at.keep(openEditor(at.weft.wsUrl, 'acme/gap/main', await at.weft.token()))
      await eventually(() => editor.text.toString() === 'whole')
      await new Promise((resolve) => setTimeout(resolve, 6000))
      running.child.kill('SIGTERM')
      const { code, out } = await running.ended
      expect([code, linesOf(out).at(-1)]).toMatchObject([0, { inStep: 1 }])
      expect(linesOf(out).at(-1)?.updates).toBeLessThan(4)
    },
  )

  itLong('[MIRROR-11] reports by how much a document is behind while Weft lacks content', async () => {
    const ada = visit('acme/behind/main')
    ada.text.insert(0, '12345')
    await eventually(() => ada.provider.synced)
    let state: 'losing' | 'whole' = 'losing'
    const isUpdate = (message: Buffer): boolean => message[0] === 0 && message[1] === 2
    const loses = (message: Buffer): boolean => state === 'losing' && isUpdate(message)
    const lossy = at.keep(await startRecorder(at.weft.wsUrl, loses))
    const running = await at.mirror(['acme/behind/main'], [], at.old.url, lossy.url)
    await running.printed(/"kind":"behind","by":5/)
    ada.text.insert(5, '678')
    await running.printed(/"kind":"behind","by":8/)
    expect(running.out()).not.toContain('inStep')
    state = 'whole'
    await running.printed(inStep('acme/behind/main'))
    state = 'losing'
    ada.text.delete(2, 4)
    await running.printed(/"kind":"behind","by":4/)
    running.child.kill('SIGTERM')
    const { code, out } = await running.ended
    expect([code, linesOf(out).at(-1)]).toMatchObject([1, { ok: false, behind: 1 }])
  })
})
