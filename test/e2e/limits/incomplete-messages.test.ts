import { readFile } from 'node:fs/promises'
import { afterEach, expect, it, vi } from 'vitest'
import * as Y from 'yjs'
import { ReadBackpressure } from '../../../src/core/sync/socket/read-backpressure.ts'
import { eventually, message, RawClient, typed } from '../../support/clients/clients.ts'
import { tokenFrame } from '../../support/clients/hocuspocus-frames.ts'
import {
  beginMessage,
  firstFragment,
  frameBegin,
  nextFragment,
  pongFrame,
  sendBytes,
} from '../../support/faults/incomplete-messages.ts'
import { metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { adminToken, otherWorkspace } from '../../support/servers/tenants.ts'

const KiB = 1_024
const messageBytesMax = 1_024 * KiB

let server: TestServer
const clients: RawClient[] = []

afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.terminate()
  await server.stop()
})

const start = async (...[overrides, given]: Parameters<typeof startTestServer>): Promise<void> => {
  const config = {
    adminToken,
    maxMessageBytes: messageBytesMax,
    memoryBudgetBytes: 16 * messageBytesMax,
    ...overrides,
  }
  server = await startTestServer(config, given)
}

/** The client sends no pongs, because they would end up inside the frames of a test. */
async function connect(path: string, address?: string): Promise<RawClient> {
  const headers = address === undefined ? {} : { 'x-forwarded-for': address }
  const client = await RawClient.connect(server.wsUrl + path, headers, { autoPong: false })
  clients.push(client)
  return client
}

const many = (count: number, path: string): Promise<RawClient[]> =>
  Promise.all(Array.from({ length: count }, () => connect(path)))

/** Waits for the close frame or the end of each client, and returns how many are still open. */
const openOnes = (some: readonly RawClient[]): number =>
  some.filter(({ socket }) => socket.readyState === socket.OPEN).length

const held = (holder: string): Promise<number> => metric(server, `weft_memory_held_bytes{holder="${holder}"}`)
const heldMax = (holder: string): Promise<number> =>
  metric(server, `weft_memory_held_max_bytes{holder="${holder}"}`)
const hits = (limit: string): Promise<number> => metric(server, `weft_limit_hits_total{limit="${limit}"}`)

it('[LIM-19] before authentication, if the incomplete messages of an address exceed the limit, closes its sockets with the most bytes', async () => {
  await start()
  const hostile = await many(300, '/hocuspocus')
  for (const client of hostile) beginMessage(client, messageBytesMax, 60_000)
  await eventually(async () => openOnes(hostile) < 10 && (await held('unauthenticated_messages')) > 0)
  expect(await held('unauthenticated_messages')).toBeLessThanOrEqual(256 * KiB)
  expect(await heldMax('unauthenticated_messages')).toBe(1_024 * KiB)
  expect(await hits('incompleteMemoryPerAddress')).toBeGreaterThan(290)
  const honest = await connect(`/sync/acme/plan/main?token=${await server.token('ada')}`)
  await honest.roundTrip()
  for (const client of hostile) client.socket.terminate()
  await eventually(async () => (await held('unauthenticated_messages')) === 0)
})

it('[LIM-19] before authentication, closes a socket whose incomplete message exceeds 64 KiB, in one frame or in fragments', async () => {
  await start()
  const [whole, pieces] = await many(2, '/hocuspocus')
  if (whole === undefined || pieces === undefined) throw new Error('no clients')
  beginMessage(whole, messageBytesMax, 70_000)
  sendBytes(pieces, firstFragment(Buffer.alloc(30_000)))
  for (let sent = 0; sent < 2; sent += 1) sendBytes(pieces, nextFragment(Buffer.alloc(30_000)))
  for (const { closed } of [whole, pieces]) expect((await closed).code).toBe(1006)
  expect(await hits('incompleteMessageBytes')).toBe(2)
})

it('[LIM-19] [LIM-20] if the incomplete messages of a workspace exceed the limit, closes sockets of this workspace, and none of another one', async () => {
  await start()
  const other = await otherWorkspace(server)
  const token = await server.token('mallory')
  const hostile = await many(20, `/sync/acme/plan/main?token=${token}`)
  const honest = await connect(`/sync/acme/plan/main?token=${other.token}`)
  const update = message([0, 2], typed('x'.repeat(500_000), 1))
  const whole = frameBegin(update.length, update)
  sendBytes(honest, whole.subarray(0, 400_000))
  await eventually(async () => (await held('incomplete_messages')) > 400_000)
  for (const client of hostile) beginMessage(client, messageBytesMax, 900_000)
  await eventually(() => openOnes(hostile) <= 2)
  expect(await held('incomplete_messages')).toBeLessThanOrEqual(4 * messageBytesMax)
  expect(await hits('incompleteMemoryPerWorkspace')).toBeGreaterThanOrEqual(18)
  sendBytes(honest, whole.subarray(400_000))
  await honest.roundTrip()
  expect(honest.socket.readyState).toBe(honest.socket.OPEN)
})

it('[LIM-20] if all incomplete messages together exceed the limit, closes a socket of the workspace with the most bytes', async () => {
  // Each of three workspaces is within its own bound, and two of them fill the total.
  await start({ trustProxy: 1 })
  const [heavy, other] = [await otherWorkspace(server), await otherWorkspace(server)]
  const path = (token: string): string => `/sync/acme/plan/main?token=${token}`
  const light = await connect(path(await server.token('ada')), '10.0.0.1')
  const heavyOnes = [
    await connect(path(heavy.token), '10.0.0.2'),
    await connect(path(heavy.token), '10.0.0.3'),
  ]
  const others = [await connect(path(other.token), '10.0.0.4'), await connect(path(other.token), '10.0.0.5')]
  for (const client of heavyOnes) beginMessage(client, messageBytesMax, 1_000_000)
  for (const client of others) beginMessage(client, messageBytesMax, 900_000)
  await eventually(async () => (await held('incomplete_messages')) > 3_800_000)
  const update = message([0, 2], typed('z'.repeat(600_000), 1))
  const whole = frameBegin(update.length, update)
  sendBytes(light, whole.subarray(0, 590_000))
  await eventually(async () => (await hits('incompleteMemoryTotal')) === 1)
  sendBytes(light, whole.subarray(590_000))
  await light.roundTrip()
  await eventually(() => openOnes(heavyOnes) === 1)
  expect(openOnes(others)).toBe(2)
})

it('[LIM-21] closes a socket whose message is not complete in time, even if it sends pongs between the fragments', async () => {
  await start({}, { transferTimeoutMs: 1_000 })
  const [fragments, idle] = await many(2, `/sync/acme/plan/main?token=${await server.token('ada')}`)
  if (fragments === undefined || idle === undefined) throw new Error('no clients')
  await idle.roundTrip()
  sendBytes(fragments, firstFragment(Buffer.alloc(10)))
  const pongs = setInterval(() => sendBytes(fragments, pongFrame), 50)
  expect((await fragments.closed).code).toBe(1006)
  clearInterval(pongs)
  expect(await hits('transferTimeoutSeconds')).toBe(1)
  await idle.roundTrip()
  expect(await held('incomplete_messages')).toBe(0)
})

it('[LIM-22] applies the receive rate to the bytes of an incomplete message as they arrive', async () => {
  await start({ receiveBytesPerWorkspace: { perSecond: 200 * KiB, burst: 100 * KiB } })
  const [slow, others] = await many(2, `/sync/acme/plan/main?token=${await server.token('ada')}`)
  if (slow === undefined || others === undefined) throw new Error('no clients')
  const update = message([0, 2], typed('y'.repeat(500_000), 1))
  const whole = frameBegin(update.length, update)
  sendBytes(slow, whole.subarray(0, 450_000))
  await eventually(async () => (await hits('receiveBytesPerWorkspace')) > 0)
  sendBytes(slow, whole.subarray(450_000))
  await eventually(() => others.updates().length === 1)
})

it('[LOAD-4] counts the bytes of a message in the shares of ticks as they arrive, and those of each complete message', async () => {
  await start()
  const client = await connect(`/sync/acme/parts/main?token=${await server.token('ada')}`)
  await client.roundTrip()
  const complete = vi.spyOn(ReadBackpressure.prototype, 'check')
  const incomplete = vi.spyOn(ReadBackpressure.prototype, 'received')
  const update = message([0, 2], typed('y'.repeat(1_000), 1))
  client.send(update)
  await client.roundTrip()
  expect(complete.mock.calls.map(([, , bytes]) => bytes)).toContain(update.length)
  const part = firstFragment(Buffer.alloc(500_000))
  sendBytes(client, part)
  await eventually(() => incomplete.mock.calls.reduce((sum, [, bytes]) => sum + bytes, 0) === part.length)
  vi.restoreAllMocks()
})

it('[LIM-19] on a multiplexed socket, accepts larger messages after the first document is authenticated', async () => {
  await start()
  const client = await connect('/hocuspocus')
  client.send(tokenFrame('acme/plan/main', await server.token('ada')))
  await eventually(() => client.received.length > 0)
  beginMessage(client, messageBytesMax, 500_000)
  await eventually(async () => (await held('incomplete_messages')) > 500_000)
  expect(await held('unauthenticated_messages')).toBe(0)
})

it('[LIM-29] exports the used memory and the limit of every kind of buffer as metrics', async () => {
  await start()
  const text = await (await fetch(`${server.url}/metrics`)).text()
  const holders = (name: string): string[] =>
    [...text.matchAll(new RegExp(`^${name}\\{holder="(\\w+)"\\}`, 'gm'))].map(([, holder]) => holder ?? '')
  expect(holders('weft_memory_held_bytes')).toEqual(holders('weft_memory_held_max_bytes'))
  expect(holders('weft_memory_held_bytes')).toEqual([
    'unauthenticated_messages',
    'incomplete_messages',
    'unread_sockets',
    'unread_responses',
    'request_bodies',
    'pending_updates',
    'queued_updates',
    'thread_jobs',
    'disk_queue',
  ])
  const chapter = await readFile('src/docs/limits.md', 'utf8')
  const [, list = ''] = /`weft_memory_held_max_bytes` have the values, for (.*)\./.exec(chapter) ?? []
  const listed = [...list.matchAll(/`([a-z_]+)`/g)].map(([, holder]) => holder)
  expect(listed).toEqual(holders('weft_memory_held_bytes'))
})

it('[LIM-29] counts updates with missing dependencies as used memory until the missing updates arrive', async () => {
  await start()
  const client = await connect(`/sync/acme/plan/main?token=${await server.token('ada')}`)
  const doc = new Y.Doc()
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  for (const text of ['a', 'b'.repeat(100_000)]) doc.getText('content').insert(0, text)
  const [first, second] = updates
  if (first === undefined || second === undefined) throw new Error('no updates')
  client.sendUpdate(second)
  await eventually(async () => (await held('pending_updates')) > 100_000)
  client.sendUpdate(first)
  await eventually(async () => (await held('pending_updates')) === 0)
})
