import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
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
const accepted: Socket[] = []
const onAccepted = (event: unknown): void => void accepted.push((event as { socket: Socket }).socket)

afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.terminate()
  await server.stop()
  unsubscribe('net.server.socket', onAccepted)
  accepted.length = 0
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

it.each(floods)('[LOAD-4] reads few %s of a client in one tick', async (_what, frames) => {
  subscribe('net.server.socket', onAccepted)
  server = await startTestServer()
  const client = await signedIn()
  const connection = accepted.find(({ remotePort }) => remotePort === connectionOf(client).localPort)
  if (connection === undefined) throw new Error('the server has no such connection')
  sendBytes(client, times(40, frames))
  const end = connection.bytesRead + 40 * frames.length
  let [read, most] = [connection.bytesRead, 0]
  while (connection.bytesRead < end) {
    await new Promise((resolve) => setImmediate(resolve))
    most = Math.max(most, connection.bytesRead - read)
    read = connection.bytesRead
  }
  // The read that exceeds the budget, and one that Node keeps until the connection is read again.
  expect(most).toBeLessThanOrEqual(2 * 65_536)
})
