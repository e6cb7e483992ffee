import { afterEach, expect, it } from 'vitest'
import { eventually, message, RawClient } from '../../support/clients/clients.ts'
import { connectionOf } from '../../support/clients/hocuspocus-frames.ts'
import {
  firstFragment,
  nextFragment,
  pongFrame,
  sendBytes,
} from '../../support/faults/incomplete-messages.ts'
import { metric, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
const clients: RawClient[] = []

afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.terminate()
  await server.stop()
})

async function connect(path: string): Promise<RawClient> {
  const client = await RawClient.connect(server.wsUrl + path)
  clients.push(client)
  return client
}

const signedIn = async (): Promise<RawClient> => {
  const client = await connect(`/sync/acme/plan/main?token=${await server.token('ada')}`)
  await client.roundTrip()
  return client
}

const hits = (limit: string): Promise<number> => metric(server, `weft_limit_hits_total{limit="${limit}"}`)

const times = (count: number, frame: Uint8Array): Buffer =>
  Buffer.concat(Array.from({ length: count }, () => frame))

const empty = Buffer.alloc(0)
const lastFragment = Buffer.from([0x80, 0x80, 0, 0, 0, 0])
/** An awareness message without states in 1,000 fragments. Only the first one has content. */
const fragmented = Buffer.concat([
  firstFragment(message([1], Uint8Array.of(0))),
  times(998, nextFragment(empty)),
  lastFragment,
])

const floods = [
  ['pongs', times(10_000, pongFrame)],
  ['fragments', times(10, fragmented)],
] as const

it.each(floods)('[LIM-32] counts 10,000 %s as 200 bytes each in the receive rate', async (_what, frames) => {
  server = await startTestServer({ receiveBytesPerWorkspace: { perSecond: 100_000, burst: 100_000 } })
  const client = await signedIn()
  sendBytes(client, frames)
  await eventually(async () => (await hits('receiveBytesPerWorkspace')) > 0)
})

it('[LIM-32] before authentication, ends a websocket after 1,000 frames, fragments included', async () => {
  server = await startTestServer()
  const client = await connect('/hocuspocus')
  sendBytes(client, Buffer.concat([firstFragment(empty), times(1_001, nextFragment(empty))]))
  expect((await client.closed).code).toBe(4401)
  expect(await hits('unauthenticatedBytes')).toBe(1)
})

it.each([
  [
    'a session that the server closes',
    '/sync/acme/plan/main?token=',
    Buffer.from([0x81, 0x80, 0, 0, 0, 0]),
    1,
  ],
  ['a session after an error of the protocol', '/sync/acme/plan/main?token=', lastFragment, 1],
  // The first hit is that of the frames before the token.
  ['a multiplexed websocket without a token', '/hocuspocus?', times(1_001, pongFrame), 2],
])(
  '[LIM-9] limits the bytes and frames that arrive after the close of %s',
  async (_what, path, ending, count) => {
    server = await startTestServer({ maxMessageBytes: 65_536 })
    const client = await connect(path + (await server.token('ada')))
    // The client does not reply to the close.
    connectionOf(client).pause()
    sendBytes(client, Buffer.concat([ending, times(40_000, pongFrame)]))
    await eventually(async () => (await hits('unauthenticatedBytes')) === count)
  },
)
