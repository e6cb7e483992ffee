import { isDeepStrictEqual } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import { contentOf, eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { bytesOf, varString, varUint } from '../../support/faults/crafted-updates.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer

beforeEach(async () => {
  server = await startTestServer({ sendBufferBytes: 65_536 })
})

afterEach(() => server.stop())

async function connect(userId: string): Promise<RawClient> {
  const client = await RawClient.connect(
    `${server.wsUrl}/sync/acme/hostile/main?token=${await server.token(userId)}`,
  )
  await client.roundTrip()
  return client
}

/** The second of two updates of a client that types `ab`. */
const secondPart = (client: number): Uint8Array =>
  bytesOf(1, 1, varUint(client), 1, [0x84, ...varUint(client), 0, ...varString('b')], 0)

it('[ROOM-11] limits the number of pending updates, and drops the oldest first', async () => {
  const [sender, witness] = [await connect('ada'), await connect('bob')]
  const clients = Array.from({ length: 300 }, (_, index) => index + 1)
  for (const client of clients) sender.sendUpdate(secondPart(client))
  await sender.roundTrip()
  for (const client of clients) sender.sendUpdate(typed('a', client))
  await sender.roundTrip()
  const clocks = (): Map<number, number> => {
    const doc = new Y.Doc()
    for (const update of [...witness.offers(), ...witness.updates()]) Y.applyUpdate(doc, update)
    return Y.decodeStateVector(Y.encodeStateVector(doc))
  }
  const received = (): readonly unknown[] => clients.map((client) => clocks().get(client))
  const kept = clients.map((client) => (client <= 100 ? 1 : 2))
  // The pending updates are integrated in later ticks than the updates that they wait for.
  await eventually(() => isDeepStrictEqual(received(), kept))
  await witness.roundTrip()
  expect(received()).toEqual(kept)
  for (const each of [sender, witness]) each.end()
})

it('[SYNC-19] when a client sends many requests and does not read, sends one answer at a time', async () => {
  const [writer, greedy] = [await connect('ada'), await connect('eve')]
  writer.sendUpdate(typed('x'.repeat(2_000_000), 1))
  await writer.roundTrip()
  await eventually(() => greedy.updates().length === 1)
  greedy.socket.pause()
  const before = greedy.offers().length
  for (let time = 0; time < 100; time++) greedy.sendVector(Uint8Array.of(0))
  // The client sends this later on the same connection. When another client has it, the server has read all
  // requests.
  greedy.sendAwareness(7, 1, { cursor: 1 })
  await eventually(() => writer.awareness().length > 0)
  greedy.socket.resume()
  writer.sendUpdate(typed('later', 2))
  await eventually(() => greedy.updates().length > 1)
  await greedy.roundTrip()
  expect(greedy.offers().length - before).toBeLessThan(30)
  expect(contentOf([...greedy.updates(), ...greedy.offers().slice(-1)])).toContain('later')
  for (const each of [writer, greedy]) each.end()
})

it('[SYNC-20] requests a missing update only once from a client that does not have it', async () => {
  const other = await connect('bob')
  const source = new Y.Doc()
  const updates: Uint8Array[] = []
  source.on('update', (update: Uint8Array) => updates.push(update))
  for (const letter of ['a', 'b', 'c']) source.getText('content').insert(0, letter)
  const [, second, third] = updates as [Uint8Array, Uint8Array, Uint8Array]
  // The document of this client builds on a missing update. The client answers every request as stock clients
  // do.
  const doc = new Y.Doc()
  Y.applyUpdate(doc, second)
  const client = await RawClient.connect(
    `${server.wsUrl}/sync/acme/hostile/main?token=${await server.token('ada')}`,
  )
  let answered = 0
  const answerAll = (): void => {
    for (const vector of client.vectors().slice(answered)) {
      answered += 1
      client.sendOffer(Y.encodeStateAsUpdate(doc, vector))
    }
  }
  answerAll()
  client.socket.on('message', answerAll)
  const rounds = async (): Promise<void> => {
    for (let round = 0; round < 50; round++) {
      other.sendUpdate(typed(`${round}`, 1_000 + round))
      await other.roundTrip()
      await client.roundTrip()
    }
  }
  await rounds()
  expect(answered).toBe(1)
  Y.applyUpdate(doc, third)
  client.sendUpdate(third)
  await rounds()
  expect(answered).toBe(2)
  for (const each of [client, other]) each.end()
})
