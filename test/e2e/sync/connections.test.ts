import { afterEach, expect, it } from 'vitest'
import type { ConnectionEntry } from '../../../src/core/rooms/room/open-connections.ts'
import { eventually, RawClient } from '../../support/clients/clients.ts'
import { frame, isAbout, tokenFrame } from '../../support/clients/hocuspocus-frames.ts'
import { documentOf, pathOf } from '../../support/servers/document-owners.ts'
import { type NodeServer, startNodes } from '../../support/servers/node-servers.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { otherKey } from '../../support/servers/tenants.ts'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

async function start(): Promise<TestServer> {
  const server = await startTestServer()
  stops.push(server.stop)
  return server
}

/** Starts nodes of one cluster. */
async function cluster(count: number): Promise<readonly [NodeServer, NodeServer]> {
  const credentials = {
    workspaceId: 'ws_nodes',
    workspaceAuthToken: 'workspace-token-of-nodes',
    apiKey: 'key_nodes',
    authToken: 'auth-token-of-the-nodes',
    jwtSecret: 'a-secret-that-all-nodes-of-a-cluster-share',
  }
  const { servers, stop } = await startNodes(count, credentials)
  stops.push(stop)
  return servers as unknown as readonly [NodeServer, NodeServer]
}

async function connect(server: TestServer, path: string, token: string): Promise<RawClient> {
  const client = await RawClient.connect(`${server.wsUrl}/sync/${path}?token=${token}`)
  await client.roundTrip()
  return client
}

async function page(server: TestServer, data: object = {}, headers = {}) {
  const { body } = await server.post('/v2/connections/get', data, headers)
  const { data: items, pageToken } = body.result as { data: ConnectionEntry[]; pageToken?: string }
  return { items, pageToken }
}

const listed = async (server: TestServer, data: object = {}, headers = {}) =>
  (await page(server, data, headers)).items
const users = (entries: readonly ConnectionEntry[]): string => entries.map(({ userId }) => userId).join()

const closeBy = async (
  server: TestServer,
  connections: readonly ConnectionEntry[],
  more = {},
  headers = {},
) => {
  const data = { connectionIds: connections.map(({ connectionId }) => connectionId), ...more }
  return dataOf(await server.post('/v2/connections/close', data, headers))
}

it('[CONN-1] lists the connected clients of the API key until they disconnect, the newest first', async () => {
  const server = await start()
  const other = await otherKey(server)
  const notes = { organizationId: 'acme', documentId: 'plan', editorId: 'notes', type: 'text', data: 'a' }
  dataOf(await server.post('/v2/crdt/add', notes))
  const ada = await connect(server, 'acme/plan/main', await server.token('ada', { name: 'Ada' }))
  const resources = [{ type: 'document', id: 'plan', organizationId: 'acme', accessRole: 'viewer' }] as const
  const bob = await connect(server, 'acme/plan/notes', await server.token('bob', { name: 'Bob', resources }))
  const elsewhere = await connect(server, 'acme/plan/main', other.token)
  const shared = {
    organizationId: 'acme',
    documentId: 'plan',
    protocol: 'y-websocket',
    transport: 'websocket',
    clientAddress: '127.0.0.1',
  }
  const all = await listed(server)
  expect(all).toMatchObject([
    { ...shared, editorId: 'notes', userId: 'bob', name: 'Bob', accessRole: 'viewer' },
    { ...shared, editorId: 'main', userId: 'ada', name: 'Ada', accessRole: 'editor' },
  ])
  expect(all[0]?.connectedAt).toBeGreaterThanOrEqual(all[1]?.connectedAt ?? Number.POSITIVE_INFINITY)
  expect(users(await listed(server, {}, other.headers))).toBe('bob')
  bob.end()
  await eventually(async () => users(await listed(server)) === 'ada')
  for (const client of [ada, elsewhere]) client.end()
  await eventually(async () => (await listed(server)).length === 0)
})

it('[CONN-1] [CONN-3] lists and closes the clients of all nodes from any node', async () => {
  const [first, second] = await cluster(2)
  const nodes = { nodes: [first.node, second.node], servers: [first, second] }
  const [plan, notes] = [0, 1].map((node) => pathOf(documentOf(nodes, node)))
  const ada = await connect(first, plan as string, await first.token('ada'))
  const bob = await connect(second, notes as string, await first.token('bob'))
  for (const node of [first, second]) {
    const all = await listed(node)
    expect(all.map(({ userId, node: at }) => `${userId} ${at}`).toSorted()).toEqual([
      `ada ${first.node.engine.cluster.self}`,
      `bob ${second.node.engine.cluster.self}`,
    ])
  }
  expect(await closeBy(first, await listed(first))).toEqual({ closed: 2 })
  expect([await ada.closed, await bob.closed]).toMatchObject([{ code: 4403 }, { code: 4403 }])
  for (const node of [first, second]) expect(await listed(node)).toEqual([])
})

it('[CONN-2] lists each connection that matches the filters once in pages, even while clients connect', async () => {
  const [first, second] = await cluster(2)
  const clients: RawClient[] = []
  const join = async (user: string, path: string) => {
    const node = clients.length % 2 === 0 ? first : second
    clients.push(await connect(node, path, await first.token(user)))
  }
  for (const user of ['a', 'b', 'c', 'd', 'e']) await join(user, 'acme/plan/main')
  await join('f', 'acme/other/main')
  await join('a', 'umbrella/plan/main')
  const found: string[] = []
  let pageToken: string | undefined
  do {
    const query = { organizationId: 'acme', documentId: 'plan', pageSize: 2 }
    const next = await page(first, { ...query, ...(pageToken !== undefined && { pageToken }) })
    found.push(users(next.items))
    ;({ pageToken } = next)
    await join(`late-${found.length}`, 'acme/plan/main')
  } while (pageToken !== undefined)
  expect(found).toEqual(['e,d', 'c,b', 'a'])
  expect((await listed(first, { userId: 'a' })).map(({ organizationId }) => organizationId)).toEqual([
    'umbrella',
    'acme',
  ])
  for (const client of clients) client.end()
})

it('[CONN-3] closes only the given connections of the API key, with 1012 if clients may reconnect', async () => {
  const server = await start()
  const other = await otherKey(server)
  const token = await server.token('ada')
  const [named, kept] = [
    await connect(server, 'acme/a/main', token),
    await connect(server, 'acme/b/main', token),
  ]
  const foreign = await connect(server, 'acme/a/main', other.token)
  const [b, a] = (await listed(server)) as [ConnectionEntry, ConnectionEntry]
  const [strange] = (await listed(server, {}, other.headers)) as [ConnectionEntry]
  expect(await closeBy(server, [a, strange], { reconnect: true })).toEqual({ closed: 1 })
  expect(await named.closed).toEqual({
    code: 1012,
    reason: 'an administrator closed the connection; reconnect',
  })
  expect(await closeBy(server, [a, strange])).toEqual({ closed: 0 })
  expect(await listed(server)).toEqual([b])
  expect(await listed(server, {}, other.headers)).toEqual([strange])
  for (const client of [kept, foreign]) {
    await client.roundTrip()
    client.end()
  }
})

it('[CONN-3] closes one document on a multiplexed websocket, and leaves the others open', async () => {
  const server = await start()
  const token = await server.token('ada')
  const client = await RawClient.connect(`${server.wsUrl}/hocuspocus`)
  for (const name of ['acme/a/main', 'acme/b/main']) client.send(tokenFrame(name, token))
  await eventually(async () => (await listed(server)).length === 2)
  const [a] = await listed(server, { documentId: 'a' })
  expect(a?.protocol).toBe('hocuspocus')
  expect(await closeBy(server, [a as ConnectionEntry])).toEqual({ closed: 1 })
  await eventually(() => client.received.some((bytes) => isAbout(bytes, 'acme/a/main', 2, 1)))
  expect((await listed(server)).map(({ documentId }) => documentId)).toEqual(['b'])
  client.received.length = 0
  client.send(frame('acme/b/main', 0, 0, 1, 0))
  await eventually(() => client.received.some((bytes) => isAbout(bytes, 'acme/b/main', 0, 1)))
  client.end()
})

it('[CONN-4] records closed connections in the audit log', async () => {
  const server = await start()
  const client = await connect(server, 'acme/a/main', await server.token('ada'))
  const connections = await listed(server)
  await closeBy(server, connections)
  await client.closed
  const { workspaceId, workspaceAuthToken } = server.credentials
  const workspace = {
    'x-service-workspace-id': workspaceId,
    'x-service-workspace-auth-token': workspaceAuthToken,
  }
  const query = { operation: '/v2/connections/close' }
  expect(dataOf(await server.post('/v2/workspace/audit/get', query, workspace))).toMatchObject([
    { outcome: 'success', ids: { connectionIds: connections.map(({ connectionId }) => connectionId) } },
  ])
})
