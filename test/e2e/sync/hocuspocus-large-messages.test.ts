import { afterAll, beforeAll, expect, it } from 'vitest'
import type * as Y from 'yjs'
import { eventually, message, RawClient } from '../../support/clients/clients.ts'
import { isAbout, ping, pong, tokenFrame, varString } from '../../support/clients/hocuspocus-frames.ts'
import { HttpSession, randomSessionId } from '../../support/clients/http-session.ts'
import {
  type HocuspocusVersion,
  hocuspocusProvider,
  hocuspocusSocket,
} from '../../support/clients/protocol-clients.ts'
import { metric, startTestServer, type TestServer } from '../../support/servers/server.ts'

const maxMessageBytes = 100_000
let server: TestServer

beforeAll(async () => {
  server = await startTestServer({ maxMessageBytes })
})

afterAll(() => server.stop())

const textOf = ({ document }: { document: Y.Doc }): Y.Text => document.getText('content')

it.each<HocuspocusVersion>([2, 3, 4])(
  '[DIA-41] version %i: rejects the document of a message that is too large, with the limit, and keeps the websocket and its other documents',
  async (version) => {
    const token = await server.token('ada')
    const socket = hocuspocusSocket(server, version)
    const closes: unknown[] = []
    socket.on('close', (event: unknown) => closes.push(event))
    const options = { version, socket }
    const [large, other] = ['large', 'other'].map((name) =>
      hocuspocusProvider(server, `acme/${name}-${version}/main`, token, options),
    )
    if (large === undefined || other === undefined) throw new Error('no providers')
    await eventually(() => large.isSynced && other.isSynced)
    const reasons: string[] = []
    large.on('authenticationFailed', ({ reason }: { reason: string }) => reasons.push(reason))
    textOf(large).insert(0, 'x'.repeat(3 * maxMessageBytes))
    await eventually(() => reasons.length === 1)
    expect(reasons).toEqual([`message larger than ${maxMessageBytes} bytes`])
    textOf(large).insert(0, 'y'.repeat(3 * maxMessageBytes))
    textOf(other).insert(0, 'undisturbed')
    await eventually(() => !other.hasUnsyncedChanges)
    expect(large.hasUnsyncedChanges).toBe(true)
    expect(closes).toEqual([])
    for (const provider of [large, other]) provider.destroy()
    socket.destroy()
  },
)

const name = 'acme/raw/main'
const isIn = ({ received }: RawClient): boolean => received.some((bytes) => isAbout(bytes, name, 2, 2))
const rejections = ({ received }: RawClient): number =>
  received.filter((bytes) => isAbout(bytes, name, 2, 1)).length
const large = Buffer.concat([varString(name), Buffer.from([0, 2]), Buffer.alloc(3 * maxMessageBytes)])

async function admitted(): Promise<RawClient> {
  const client = await RawClient.connect(`${server.wsUrl}/hocuspocus`)
  client.send(tokenFrame(name, await server.token('ada')))
  await eventually(() => isIn(client))
  return client
}

async function answersPing(client: RawClient): Promise<void> {
  client.send(ping)
  await eventually(() => client.received.some((bytes) => Buffer.from(bytes).equals(pong)))
}

it('[DIA-41] counts a message that is too large for a document in the metrics of limits, and ignores one for no open document', async () => {
  const hits = (): Promise<number> => metric(server, 'weft_limit_hits_total{limit="maxMessageBytes"}')
  const before = await hits()
  const client = await admitted()
  client.send(large)
  await eventually(() => rejections(client) === 1)
  client.send(large)
  await answersPing(client)
  expect(rejections(client)).toBe(1)
  expect((await hits()) - before).toBe(1)
  client.end()
})

it('[DIA-41] rejects the document of a message that is too large because of its fragments', async () => {
  const client = await admitted()
  for (let at = 0; at < large.length; at += 1_000)
    client.socket.send(large.subarray(at, at + 1_000), { fin: at + 1_000 >= large.length })
  await answersPing(client)
  expect(rejections(client)).toBe(1)
  client.end()
})

const other = 'acme/other/main'
const httpSession = (): HttpSession =>
  new HttpSession(`${server.url}/sync-http`, randomSessionId(), { query: { dialect: 'hocuspocus' } })
const ofDocument = (bytes: number): Buffer =>
  Buffer.concat([varString(name), Buffer.from([0, 2]), Buffer.alloc(bytes)])

// The larger ones also exceed the limit of a body.
it.each([maxMessageBytes, 3 * maxMessageBytes, 30 * maxMessageBytes])(
  '[DIA-41] over HTTP, rejects the document of a message of %i bytes more, and keeps the session and its other documents',
  async (bytes) => {
    const session = httpSession()
    const stream = await session.stream()
    const about = (document: string, ...types: readonly number[]): number =>
      stream.messages().filter((each) => isAbout(each.bytes, document, ...types)).length
    const token = await server.token('ada')
    await session.post([name, other].map((each) => tokenFrame(each, token)))
    await eventually(() => about(name, 2, 2) === 1 && about(other, 2, 2) === 1)
    // The messages after the large one are also used.
    expect(await session.post([ping, ofDocument(bytes), ping])).toEqual({
      status: 200,
      body: { received: 5 },
    })
    await eventually(() => about(name, 2, 1) === 1)
    const [rejection] = stream.messages().filter((each) => isAbout(each.bytes, name, 2, 1))
    expect(rejection?.bytes.toString()).toContain(`message larger than ${maxMessageBytes} bytes`)
    const pongs = (): number => stream.messages().filter((each) => each.bytes.equals(pong)).length
    await eventually(() => pongs() === 2)
    // The client repeats a POST whose response was lost.
    expect((await session.post([ofDocument(bytes)], { number: 4 })).status).toBe(200)
    const before = about(other)
    await session.post([Buffer.concat([varString(other), Buffer.from([0, 0, 1, 0])])], { number: 6 })
    await eventually(() => about(other) > before)
    expect([about(other, 2, 1), stream.closed()]).toEqual([0, undefined])
    await session.post([], { close: 1000 })
  },
)

it('[DIA-41] over HTTP, closes a session whose body ends within a message that is too large', async () => {
  const session = httpSession()
  const stream = await session.stream()
  await session.post([tokenFrame(name, await server.token('ada'))])
  await eventually(() => stream.messages().some(({ bytes }) => isAbout(bytes, name, 2, 2)))
  const body = Buffer.from(message([], ofDocument(4 * maxMessageBytes))).subarray(0, 3 * maxMessageBytes)
  expect((await session.postBody(body, { number: 2 })).status).toBe(400)
  await stream.ended
  expect(stream.closed()).toMatchObject({ code: 4400 })
})
