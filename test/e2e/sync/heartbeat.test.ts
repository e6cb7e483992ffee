import type { Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Clock, systemClock } from '../../../src/core/base/clock.ts'
import {
  deadAfterMs,
  echoAfterMs,
  pingEveryMs,
  silenceMsMax,
} from '../../../src/core/sync/socket/heartbeat.ts'
import { eventually, message, RawClient, typed } from '../../support/clients/clients.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

/** Real time plus an offset that the test sets. */
let aheadMs = 0
const clock: Clock = { now: () => Date.now() + aheadMs, after: (ms, fn) => systemClock.after(ms, fn) }

let server: TestServer
let token: string
const connect = (path: string, options: object = {}): Promise<RawClient> =>
  RawClient.connect(`${server.wsUrl}/sync/${path}?token=${token}`, {}, options)

beforeAll(async () => {
  server = await startTestServer({}, { clock })
  token = await server.token('ada')
})

afterAll(() => server.stop())

it('[SYNC-15] sends an idle client a message at least every 15 s', async () => {
  expect(silenceMsMax).toBeLessThanOrEqual(15_000)
  const client = await connect('acme/quiet/main')
  await client.roundTrip()
  const before = client.bodies(1).length
  aheadMs += silenceMsMax
  await eventually(() => client.bodies(1).length === before + 1)
  expect(client.awareness()).toEqual([])
  client.end()
})

it('[SYNC-15] after the clock is set back, still sends messages to an idle client in time', async () => {
  const client = await connect('acme/quiet/main')
  aheadMs -= 3_600_000
  await client.roundTrip()
  const before = client.bodies(1).length
  aheadMs += silenceMsMax
  await eventually(() => client.bodies(1).length === before + 1)
  aheadMs += 3_600_000
  client.end()
})

it('[SYNC-16] if a client has not answered the last ping when the next one is due, ends this client, and keeps other clients', async () => {
  expect(deadAfterMs).toBeLessThanOrEqual(35_000)
  const [dead, alive] = [
    await connect('acme/dead/main', { autoPong: false }),
    await connect('acme/dead/main'),
  ]
  dead.sendAwareness(1, 1, { cursor: 1 })
  await eventually(() => alive.awareness().length === 1)
  let pings = 0
  alive.socket.on('ping', () => {
    pings += 1
  })
  aheadMs += pingEveryMs
  await eventually(() => pings === 1)
  await alive.roundTrip()
  aheadMs += pingEveryMs
  expect(await dead.closed).toMatchObject({ code: 1006 })
  await eventually(() => alive.awareness().at(-1)?.state === null)
  await alive.roundTrip()
  alive.end()
})

it('[SYNC-16] keeps a client that cannot answer pings because it is sending a large message', async () => {
  const other = await connect('acme/upload/main')
  const update = message([0, 2], typed('large', 5))
  const name = Buffer.from('acme/upload/main')
  const opened = Buffer.concat([Uint8Array.of(name.length), name])
  const hocuspocus = await RawClient.connect(`${server.wsUrl}/hocuspocus`, {}, { autoPong: false })
  hocuspocus.send(Buffer.concat([opened, message([2, 0], Buffer.from(token))]))
  await eventually(() => hocuspocus.received.length > 0)
  const clients = [await connect('acme/upload/main', { autoPong: false }), hocuspocus]
  const sending = clients.map((client) => {
    const sent = client === hocuspocus ? Buffer.concat([opened, update]) : Buffer.from(update)
    // A whole binary frame with a mask of zeros.
    const frame = Buffer.concat([Uint8Array.of(0x82, 0x80 + sent.length, 0, 0, 0, 0), sent])
    const connection = Reflect.get(client.socket, '_socket') as Socket
    let pings = 0
    client.socket.on('ping', () => {
      pings += 1
    })
    return { frame, connection, pings: () => pings }
  })
  for (const at of [0, 4, 8]) {
    for (const { frame, connection } of sending) connection.write(frame.subarray(at, at + 4))
    await other.roundTrip()
    const before = sending.map(({ pings }) => pings())
    aheadMs += pingEveryMs
    await eventually(() => sending.every(({ pings }, index) => pings() > (before[index] as number)))
  }
  for (const { frame, connection } of sending) connection.write(frame.subarray(12))
  await eventually(() => other.updates().length > 0)
  for (const client of [other, ...clients]) {
    expect(client.socket.readyState).toBe(client.socket.OPEN)
    client.end()
  }
})

it('[SYNC-15] answers a request for the states of a document that has none', async () => {
  const client = await connect('acme/no-states/main')
  await client.roundTrip()
  const before = client.bodies(1).length
  client.send(Uint8Array.of(3))
  await client.roundTrip()
  expect(client.bodies(1).length).toBe(before + 1)
  client.end()
})

it('[SYNC-17] echoes the awareness renewal of a client that received no other message', async () => {
  const client = await connect('acme/echo/main')
  client.sendAwareness(3, 1, { cursor: 1 })
  await client.roundTrip()
  const isEchoed = () => client.awareness().some(({ clock }) => clock > 1)
  // If the test pauses too long, the server sends the idle client a message, and that renewal has no echo.
  for (let clock = 2; clock < 6 && !isEchoed(); clock++) {
    // Longer than the delay of an echo, and shorter than the silence after which the server sends a message.
    aheadMs += echoAfterMs + 1_000
    client.sendAwareness(3, clock, { cursor: 1 })
    await eventually(isEchoed, undefined, 5_000).catch(() => {})
  }
  expect(isEchoed()).toBe(true)
  client.end()
})
