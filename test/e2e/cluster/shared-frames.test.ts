import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../../../src/core/base/clock.ts'
import { ForwardSigner, forwardedHeader } from '../../../src/core/forwarding/forward-signer.ts'
import { sharedFramesPath } from '../../../src/core/sync/socket/shared-frames.ts'
import { contentOf, eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { hocuspocusProvider } from '../../support/clients/protocol-clients.ts'
import { documentOf, forwardedBy, pathOf } from '../../support/servers/document-owners.ts'
import { startCluster, type TestCluster } from '../../support/servers/in-process-cluster.ts'
import { metric, type TestServer } from '../../support/servers/server.ts'

let cluster: TestCluster
const opened: { close(): void }[] = []

afterEach(async () => {
  for (const client of opened.splice(0)) client.close()
  await cluster.stop()
})

type Ids = ReturnType<typeof documentOf>

const server = (index: number): TestServer => cluster.servers[index] as TestServer

async function rawAt(index: number, ids: Ids, userId: string): Promise<RawClient> {
  const token = await server(index).token(userId)
  const client = await RawClient.connect(`${server(index).wsUrl}/sync/${pathOf(ids)}?token=${token}`)
  opened.push({ close: () => client.end() })
  await client.roundTrip()
  return client
}

/** Opens several websockets at the first node for a document of the second, and waits until they take shared frames. */
async function readersOf(ids: Ids, count: number): Promise<RawClient[]> {
  const readers = await Promise.all(Array.from({ length: count }, (_, at) => rawAt(0, ids, `reader-${at}`)))
  await eventually(async () => (await forwardedBy(server(0), 'frames')) > 0)
  for (const reader of readers) await reader.roundTrip()
  return readers
}

const textOf = (client: RawClient): string => contentOf([...client.offers(), ...client.updates()])

const passedBytes = (): Promise<number> =>
  metric(server(0), 'weft_forwarded_bytes_total{direction="response"}')

it('[FW-12] sends the updates and awareness states of a large document once to each node', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const readers = await readersOf(ids, 12)
  const writer = await rawAt(1, ids, 'writer')
  const before = await passedBytes()
  for (let client = 1; client <= 20; client++) {
    writer.sendUpdate(typed('x'.repeat(10_000), client))
    await writer.roundTrip()
  }
  writer.sendAwareness(7, 1, { name: 'writer' })
  await eventually(() => readers.every((reader) => textOf(reader).length === 200_000))
  await eventually(() => readers.every((reader) => reader.awareness().some(({ clientId }) => clientId === 7)))
  expect((await passedBytes()) - before).toBeLessThan(400_000)
})

it('[FW-12] gives clients of one node the changes of each other, and not their own', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const readers = await readersOf(ids, 5)
  for (const [at, reader] of readers.entries()) reader.sendUpdate(typed(`${at}`, at + 1))
  await eventually(() => readers.every((reader) => contentOf(reader.updates()).length === 4))
  for (const [at, reader] of readers.entries()) expect(contentOf(reader.updates())).not.toContain(`${at}`)
})

it('[FW-12] sends shared frames between the messages of a websocket, never inside', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const [reader] = (await readersOf(ids, 4)) as [RawClient]
  const writer = await rawAt(1, ids, 'writer')
  for (let client = 1; client <= 12; client++) writer.sendUpdate(typed('x'.repeat(1_000_000), client))
  await eventually(() => contentOf(reader.updates()).length === 12_000_000)
  const before = await passedBytes()
  reader.socket.pause()
  reader.sendVector(Uint8Array.of(0))
  // The reply is larger than what the operating system keeps, so a part of it waits.
  await eventually(async () => (await passedBytes()) - before > 1_000_000)
  for (let client = 13; client <= 20; client++) {
    writer.sendUpdate(typed('y', client))
    await writer.roundTrip()
  }
  reader.socket.resume()
  await eventually(() => contentOf(reader.offers()).length === 12_000_000)
  await eventually(() => contentOf(reader.updates()).length === 12_000_008)
})

it('[FW-12] a client that does not read loses nothing, and the others do not wait', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const [slow, ...others] = (await readersOf(ids, 5)) as [RawClient, ...RawClient[]]
  const writer = await rawAt(1, ids, 'writer')
  slow.socket.pause()
  let count = 0
  const isBehind = async (): Promise<boolean> => (await metric(server(1), 'weft_slow_clients')) === 1
  const write = async (): Promise<void> => {
    writer.sendUpdate(typed('x'.repeat(100_000), ++count))
    await eventually(() => others.every((reader) => reader.updates().length === count))
  }
  for (let first = 0; first < 300 && !(await isBehind()); first++) await write()
  for (let more = 0; more < 5; more++) await write()
  expect(await isBehind()).toBe(true)
  slow.socket.resume()
  await eventually(async () => !(await isBehind()))
  writer.sendUpdate(typed('end', ++count))
  await eventually(() => slow.updates().at(-1)?.length === typed('end', count).length)
  expect(slow.updates().length).toBeLessThan(count)
  for (const reader of [slow, ...others])
    expect(contentOf(reader.updates())).toHaveLength((count - 1) * 100_000 + 3)
})

it('[FW-12] Hocuspocus connections also receive shared frames', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const providers = await Promise.all(
    Array.from({ length: 6 }, async (_, at) =>
      hocuspocusProvider(server(0), pathOf(ids), await server(0).token(`reader-${at}`)),
    ),
  )
  for (const provider of providers) opened.push({ close: () => provider.destroy() })
  await eventually(() => providers.every(({ isSynced }) => isSynced))
  await eventually(async () => (await forwardedBy(server(0), 'frames')) > 0)
  const writer = await rawAt(1, ids, 'writer')
  const before = await passedBytes()
  for (let client = 1; client <= 10; client++) writer.sendUpdate(typed('x'.repeat(10_000), client))
  await eventually(() =>
    providers.every(({ document }) => document.getText('content').toString().length === 100_000),
  )
  expect((await passedBytes()) - before).toBeLessThan(300_000)
  providers[0]?.document.getText('content').insert(0, 'typed ')
  await eventually(() =>
    providers.every(({ document }) => document.getText('content').toString().length === 100_006),
  )
})

it('[FW-13] closes the websockets with 1012 when the connection for shared frames is lost', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const readers = await readersOf(ids, 4)
  const near = await rawAt(1, ids, 'near')
  const signer = new ForwardSigner(server(0).credentials.jwtSecret, null, systemClock)
  const header = signer.sign(
    { method: 'GET', url: sharedFramesPath, headers: {} },
    { node: 'node-1', clientAddress: '', tool: null, websocket: null },
  )
  // The owner uses the newest connection of a node only.
  const second = await RawClient.connect(`${server(1).wsUrl}${sharedFramesPath}`, {
    [forwardedHeader]: header,
  })
  opened.push({ close: () => second.end() })
  for (const reader of readers) expect((await reader.closed).code).toBe(1012)
  await near.roundTrip()
  const again = await readersOf(ids, 4)
  near.sendUpdate(typed('after', 1))
  await eventually(() => again.every((reader) => textOf(reader) === 'after'))
})

it('[FW-13] rejects clients that request shared frames', async () => {
  cluster = await startCluster(2)
  const token = await server(0).token('ada')
  const client = await RawClient.connect(`${server(0).wsUrl}${sharedFramesPath}?token=${token}`)
  expect((await client.closed).code).toBe(4400)
})
