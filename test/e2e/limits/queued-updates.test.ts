import { afterEach, beforeEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import { unlimited } from '../../../src/core/config/option-parsers.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { contentOf, eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { block, contents, item, list, updateOf } from '../../support/data/update-builder.ts'
import { hostileUpdates } from '../../support/faults/hostile-shapes.ts'
import { metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { adminToken, type OtherTenant, otherWorkspace } from '../../support/servers/tenants.ts'
import { type HeldEngine, holdable, withLog } from '../../support/stores/pausable-engine.ts'
import { gate, type TestGate } from '../../support/time/gate.ts'

const MiB = 1_048_576

let server: TestServer
let engine: HeldEngine
let other: OtherTenant
/** Delays the document that a thread needs to integrate an expensive update until the gate opens. */
let copy: TestGate
const clients: RawClient[] = []

beforeEach(async () => {
  copy = gate()
  engine = holdable(
    withLog(await openMemoryEngine(), (log) => ({
      loadAt: async (...parameters) => {
        await copy.opened
        return log.loadAt(...parameters)
      },
    })),
  )
  const limits = {
    maxMessageBytes: MiB,
    memoryBudgetBytes: 16 * MiB,
    receiveBytesPerWorkspace: unlimited,
    maxConnectionsPerAddress: 0,
  }
  server = await startTestServer({ adminToken, ...limits }, { engine })
  other = await otherWorkspace(server)
})

afterEach(async () => {
  copy.open()
  engine.release()
  for (const client of clients.splice(0)) client.socket.terminate()
  await server.stop()
})

const held = (holder = 'queued_updates'): Promise<number> =>
  metric(server, `weft_memory_held_bytes{holder="${holder}"}`)
/** Number of clients that were closed at the bound of a workspace. */
const ended = async (): Promise<number> =>
  (await metric(server, 'weft_limit_hits_total{limit="queuedUpdateMemoryPerWorkspace"}')) || 0

async function connect(token: string): Promise<RawClient> {
  const client = await RawClient.connect(`${server.wsUrl}/sync/acme/plan/main?token=${token}`)
  clients.push(client)
  return client
}

/** Sends an expensive update: the document waits for the thread that integrates it. */
async function beginExpensive(): Promise<RawClient> {
  const writer = await connect(await server.token('ada'))
  const [first, second] = hostileUpdates.concurrentPrepends(2_000) as [Uint8Array, Uint8Array]
  writer.sendUpdate(first)
  await writer.roundTrip()
  writer.sendUpdate(second)
  await eventually(async () => (await held()) > second.length)
  return writer
}

const entries = 4_100

/** More structs than an event loop integrates: entries of the map `m` whose keys start with `prefix`. */
function manyEntries(prefix: string): Uint8Array {
  const doc = new Y.Doc()
  const map = doc.getMap('m')
  doc.transact(() => {
    for (let index = 0; index < entries; index += 1) map.set(prefix + index.toString(36), true)
  })
  return Y.encodeStateAsUpdate(doc)
}

/** Malformed: an entry of a map with two values, which only the document shows. */
const twoValues = Uint8Array.of(1, 1, 7, 0, 0x24, 1, 1, 109, 1, 107, 2, 97, 98, 0)

it('[ROOM-74] integrates large updates that wait together in few jobs, and closes only the sender of a malformed one', async () => {
  const jobs = async () =>
    (await metric(server, 'weft_thread_jobs_total{purpose="change",outcome="done"}')) || 0
  const writer = await beginExpensive()
  const before = await jobs()
  const count = 16
  const malformed = 12
  const senders: RawClient[] = []
  let waiting = 0
  for (let sender = 0; sender < count; sender += 1) {
    const update = manyEntries(`${sender}.`)
    const client = await connect(await server.token('eve'))
    client.sendUpdate(sender === malformed ? Y.mergeUpdates([update, twoValues]) : update)
    waiting += update.length
    await eventually(async () => (await held()) > waiting)
    senders.push(client)
  }
  copy.open()
  expect((await senders[malformed]?.closed)?.code).toBe(4400)
  await eventually(async () => (await held()) === 0)
  const doc = new Y.Doc()
  const isWhole = (): boolean => {
    for (const update of writer.updates()) Y.applyUpdate(doc, update)
    return doc.getMap('m').size === (count - 1) * entries
  }
  await eventually(isWhole, () => doc.getMap('m').size)
  for (const [sender, { socket }] of senders.entries())
    if (sender !== malformed) expect(socket.readyState).toBe(socket.OPEN)
  // A job takes at most as many bytes as the document has. One job is that of the writer.
  expect((await jobs()) - before).toBeLessThan(count / 2)
})

const large = (client: number): Uint8Array => typed('x'.repeat(900_000), client)

it('[LIM-31] pauses a socket whose updates wait for a thread, and then applies all of them', async () => {
  const writer = await beginExpensive()
  const [flood, neighbor] = [await connect(await server.token('eve')), await connect(other.token)]
  const count = 24
  for (let client = 1; client <= count; client += 1) flood.sendUpdate(large(100 + client))
  await eventually(async () => (await held()) > 900_000)
  for (let round = 0; round < 20; round += 1) {
    neighbor.sendUpdate(typed('n', 50 + round))
    await neighbor.roundTrip()
  }
  expect(await held()).toBeLessThan(2 * MiB)
  copy.open()
  await eventually(() => writer.updates().reduce((sum, { length }) => sum + length, 0) > count * 900_000)
  await eventually(async () => (await held()) === 0)
  expect(flood.socket.readyState).toBe(flood.socket.OPEN)
})

it('[LIM-31] closes with 1013 the client whose waiting updates use the most memory in its workspace', async () => {
  await beginExpensive()
  const [honest, neighbor] = [await connect(await server.token('bob')), await connect(other.token)]
  honest.sendUpdate(typed('honest', 60))
  const token = await server.token('eve')
  const codes: number[] = []
  for (let sent = 1; sent <= 12; sent += 1) {
    const client = await connect(token)
    void client.closed.then(({ code }) => codes.push(code))
    client.sendUpdate(large(100 + sent))
    await eventually(async () => (await held()) > 900_000 * Math.min(sent, 2))
    await eventually(async () => (await ended()) === Math.max(0, sent - 2))
  }
  await eventually(() => codes.length === 10)
  expect(codes).toEqual(Array.from({ length: 10 }, () => 1013))
  expect(await held()).toBeLessThanOrEqual(2 * MiB)
  neighbor.sendUpdate(typed('n', 50))
  await neighbor.roundTrip()
  copy.open()
  const joining = await connect(token)
  await eventually(() => {
    joining.sendVector(Uint8Array.of(0))
    return contentOf(joining.offers()).includes('honest')
  })
  await eventually(async () => (await held()) === 0)
})

/**
 * An update with a small part for each of many clients, because its summary takes many times its
 * bytes.
 */
const ofManyClients = (count: number, clock: number): Uint8Array =>
  updateOf(list(count, (index) => block(1_000 + index, [item({}, contents.text('a'))], clock)))

it('[LIM-31] includes the summaries of waiting updates in the measured memory', async () => {
  await beginExpensive()
  const update = ofManyClients(10_000, 0)
  const client = await connect(await server.token('eve'))
  client.sendUpdate(update)
  await eventually(async () => (await held()) > 9 * update.length)
  client.socket.terminate()
  copy.open()
  await eventually(async () => (await held()) === 0)
})

it('[LIM-29] includes the summaries of updates with missing dependencies in the measured memory', async () => {
  copy.open()
  const update = ofManyClients(10_000, 1)
  const client = await connect(await server.token('eve'))
  client.sendUpdate(update)
  await eventually(async () => (await held('pending_updates')) > 9 * update.length)
})

it('releases the thread of an expensive update before the update waits for the disk', async () => {
  copy.open()
  const writer = await connect(await server.token('ada'))
  const [first, second] = hostileUpdates.concurrentPrepends(2_000) as [Uint8Array, Uint8Array]
  writer.sendUpdate(first)
  await writer.roundTrip()
  engine.hold()
  writer.sendUpdate(typed('not durable', 77))
  await eventually(() => engine.waiting() === 1)
  writer.sendUpdate(second)
  await eventually(async () => (await held()) > second.length)
  const running = 'weft_thread_uses{purpose="change",state="running"}'
  expect((await metric(server, running)) || 0).toBe(0)
  engine.release()
  await eventually(async () => (await held()) === 0)
  await writer.roundTrip()
})
