import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../support/clients/clients.ts'
import { startYWebsocket } from '../../support/servers/legacy-servers.ts'
import { inStep, linesOf, MirrorSetting, sameInWeft, visitor } from '../../support/servers/mirror-servers.ts'

const messageBytesMax = 32 * 1024

let at: MirrorSetting

beforeAll(async () => {
  at = await MirrorSetting.open(startYWebsocket, { WEFT_MAX_MESSAGE_BYTES: String(messageBytesMax) })
})

afterEach(() => at.endTest())

afterAll(() => at.end())

const visit = (name: string): ReturnType<typeof visitor> => at.keep(visitor(at.old.url, name))

describe('documents larger than a message to Weft', () => {
  it('[MIRROR-15] splits documents that are larger than a message into parts, both stored content and content that is pasted during the copy', async () => {
    const [ada, grace] = [visit('acme/large/main'), visit('acme/large/main')]
    for (const { text } of [ada, grace])
      for (let times = 0; times < 50; times++) text.insert(text.length >> 1, `${times} words `.repeat(300))
    ada.text.delete(100, 1000)
    await eventually(() => ada.text.length > 200_000 && ada.text.length === grace.text.length)
    const running = await at.mirror(['acme/large/main'])
    await running.printed(inStep('acme/large/main'))
    grace.text.insert(7, 'pasted 🙂'.repeat(20_000))
    await eventually(() => ada.text.length === grace.text.length)
    await sameInWeft(at.weft, 'acme/large/main', ada.doc)
    running.child.kill('SIGTERM')
    const { code, out } = await running.ended
    expect([code, linesOf(out).at(-1)]).toMatchObject([0, { ok: true, inStep: 1 }])
  })

  it('[MIRROR-15] reports a document as failed if a single value is larger than a message', async () => {
    const ada = visit('acme/value/main')
    ada.doc.getMap('map').set('blob', new Uint8Array(messageBytesMax))
    await eventually(() => ada.provider.synced)
    const running = await at.mirror(['acme/value/main'])
    await running.printed(/"failed","reason":"Weft: cannot receive the whole update: one value has \d+ bytes/)
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(1)
  })
})
