import { afterEach, expect, it } from 'vitest'
import { contentOf, eventually, RawClient, syncedEditor, typed } from '../../support/clients/clients.ts'
import {
  connectionsOf,
  documentOf,
  forwardedBy,
  pathOf,
  textAt,
} from '../../support/servers/document-owners.ts'
import { startCluster, type TestCluster } from '../../support/servers/in-process-cluster.ts'
import type { TestServer } from '../../support/servers/server.ts'

let cluster: TestCluster
const opened: { close(): void }[] = []

afterEach(async () => {
  for (const client of opened.splice(0)) client.close()
  await cluster.stop()
})

const server = (index: number): TestServer => cluster.servers[index] as TestServer

async function rawAt(index: number, ids: Parameters<typeof pathOf>[0], userId: string): Promise<RawClient> {
  const token = await server(index).token(userId)
  const client = await RawClient.connect(`${server(index).wsUrl}/sync/${pathOf(ids)}?token=${token}`)
  opened.push({ close: () => client.end() })
  return client
}

it('[FW-5] gives websockets at all nodes their sessions at the owner', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const editors = await Promise.all(
    [0, 1].map(async (index) =>
      syncedEditor(server(index).wsUrl, pathOf(ids), await server(index).token(`user-${index}`)),
    ),
  )
  opened.push(...editors)
  const [far, near] = editors
  far?.text.insert(0, 'far ')
  near?.text.insert(0, 'near ')
  await eventually(() => editors.every(({ text }) => text.length === 9))
  expect(far?.text.toString()).toBe(near?.text.toString())
  const found = await connectionsOf(server(0), ids)
  expect(found.map(({ userId }) => userId).toSorted()).toEqual(['user-0', 'user-1'])
  for (const each of found) expect(each).toMatchObject({ node: 'node-2', clientAddress: '127.0.0.1' })
  expect(await forwardedBy(server(0), 'websocket')).toBe(1)
})

it('[FW-5] passes close codes of the owner', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const client = await rawAt(0, ids, 'ada')
  await eventually(() => client.vectors().length > 0)
  const connectionIds = (await connectionsOf(server(0), ids)).map(({ connectionId }) => connectionId)
  await server(0).post('/v2/connections/close', { connectionIds })
  expect(await client.closed).toEqual({ code: 4403, reason: 'an administrator closed the connection' })
})

it('[FW-5] passes large messages in both directions', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const client = await rawAt(0, ids, 'ada')
  const text = 'large '.repeat(500_000)
  client.sendUpdate(typed(text, 1))
  await client.roundTrip()
  expect(contentOf(client.offers())).toBe(text)
})

it('[FW-5] lets a client that does not read wait, without an effect on others', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const [slow, writer] = [await rawAt(0, ids, 'slow'), await rawAt(0, ids, 'writer')]
  await slow.roundTrip()
  slow.socket.pause()
  for (let client = 1; client <= 40; client++) {
    writer.sendUpdate(typed('x'.repeat(100_000), client))
    await writer.roundTrip()
  }
  slow.socket.resume()
  slow.sendVector(Uint8Array.of(0))
  await eventually(() => contentOf([...slow.offers(), ...slow.updates()]).length === 4_000_000)
})

it('[FW-6] closes forwarded websockets with 1012 when their node stops, and the users are absent', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const [client, other] = [await rawAt(0, ids, 'ada'), await rawAt(1, ids, 'grace')]
  client.sendAwareness(7, 1, { name: 'ada' })
  await eventually(() => other.awareness().some(({ clientId, state }) => clientId === 7 && state !== null))
  await server(0).server.close()
  expect((await client.closed).code).toBe(1012)
  await eventually(() => other.awareness().at(-1)?.state === null)
})

it('[FW-6] closes forwarded websockets with 1012 when the owner has died', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const client = await rawAt(0, ids, 'ada')
  await client.roundTrip()
  cluster.nodes[1]?.cut()
  expect((await client.closed).code).toBe(1012)
})

it('[FW-6] clients and calls at other nodes go on when the owner stops', async () => {
  cluster = await startCluster(3)
  const ids = documentOf(cluster, 1)
  const editors = await Promise.all(
    [0, 2].map(async (index) =>
      syncedEditor(server(index).wsUrl, pathOf(ids), await server(index).token(`user-${index}`)),
    ),
  )
  opened.push(...editors)
  const [first, second] = editors
  first?.text.insert(0, 'before ')
  await eventually(() => second?.text.toString() === 'before ')
  const stopped = server(1).server.close()
  second?.text.insert(0, 'meanwhile ')
  await stopped
  first?.text.insert(0, 'after ')
  await eventually(() => editors.every(({ text }) => text.length === 23))
  for (const index of [0, 2]) expect(await textAt(server(index), ids)).toBe(first?.text.toString())
  const nodes = new Set((await connectionsOf(server(0), ids)).map(({ node }) => node))
  expect(nodes.size).toBe(1)
  expect([...nodes]).not.toContain('node-2')
})
