import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import * as Y from 'yjs'
import { systemClock } from '../../../src/core/base/clock.ts'
import type { Config } from '../../../src/core/config/config.ts'
import { contentOf, eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { Random } from '../../support/data/random-doc.ts'
import { documentOf } from '../../support/servers/document-owners.ts'
import { type NodeServer, startNodes } from '../../support/servers/node-servers.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { adminToken, otherWorkspace } from '../../support/servers/tenants.ts'

const bytesMax = 40_000
const limit = 'maxStoredBytesPerWorkspace'
const admin = { 'x-service-admin-token': adminToken }

let server: TestServer
let token: string
let offsetMs = 0
const clock = { ...systemClock, now: () => systemClock.now() + offsetMs }
const clients: RawClient[] = []

async function start(overrides: Partial<Config> = {}): Promise<void> {
  offsetMs = 0
  server = await startTestServer({ adminToken, [limit]: bytesMax, ...overrides }, { clock })
  token = await server.token('ada')
}

afterEach(async () => {
  for (const client of clients.splice(0)) client.end()
  await server?.stop()
})

async function connect(documentId = 'document', by = token): Promise<RawClient> {
  const client = await RawClient.connect(`${server.wsUrl}/sync/acme/${documentId}/main?token=${by}`)
  clients.push(client)
  await client.roundTrip()
  return client
}

const random = new Random(1)
/** Text that does not compress well. */
const letters = (count: number): string =>
  Array.from({ length: count }, () => String.fromCharCode(33 + random.below(90))).join('')

/** Appends until the workspace is full. Returns the document. */
async function fill(): Promise<Y.Doc> {
  const doc = new Y.Doc()
  const client = await connect()
  for (let part = 1; part <= 5; part++) {
    const update = typed(letters(10_000), part)
    Y.applyUpdate(doc, update)
    if (part < 5) client.sendUpdate(update)
    await client.roundTrip()
  }
  return doc
}

const add = (documentId: string, data: string, headers = {}) =>
  server.post(
    '/v2/crdt/add',
    { organizationId: 'acme', documentId, editorId: 'main', type: 'text', data },
    headers,
  )
const usage = async () => {
  const { workspaceId, workspaceAuthToken } = server.credentials
  const answer = await server.post(
    '/v2/workspace/get',
    {},
    {
      'x-service-workspace-id': workspaceId,
      'x-service-workspace-auth-token': workspaceAuthToken,
    },
  )
  return (dataOf(answer) as { storage?: { storedBytes: number; storedBytesMax: number } }).storage
}
const setLimit = (storedBytesMax: number | null) =>
  server.post(
    '/v2/workspace/storagelimit/update',
    { workspaceId: server.credentials.workspaceId, ...(storedBytesMax !== null && { storedBytesMax }) },
    admin,
  )

it('[LIM-23] when the workspace is full, accepts deletions, but closes a socket with 4413 if its update adds content', async () => {
  await start()
  const doc = await fill()
  const [writer, reader] = [await connect(), await connect()]
  expect(contentOf(reader.offers()).length).toBe(40_000)
  // An offer of stored content does not grow the document.
  reader.sendOffer(reader.offers()[0] as Uint8Array)
  await reader.roundTrip()
  writer.sendUpdate(typed('one more', 9))
  expect(await writer.closed).toMatchObject({
    code: 4413,
    reason: expect.stringContaining(`${bytesMax} bytes`),
  })
  expect(await metric(server, `weft_limit_hits_total{limit="${limit}"}`)).toBe(1)
  const stored = new Y.Doc()
  for (const update of reader.offers()) Y.applyUpdate(stored, update)
  const deletions: Uint8Array[] = []
  stored.on('update', (update: Uint8Array) => deletions.push(update))
  stored.getText('content').delete(0, 30_000)
  for (const update of deletions) reader.sendUpdate(update)
  await reader.roundTrip()
  expect(contentOf((await connect()).offers()).length).toBe(10_000)
  doc.destroy()
})

it('[LIM-23] when the workspace is full, rejects calls that add data, and accepts reads and deletions', async () => {
  await start()
  await fill()
  const refused = await add('another', 'text')
  expect(refused).toMatchObject({ status: 429, body: { error: { status: 'RESOURCE_EXHAUSTED' } } })
  expect(refused.body.error?.details).toEqual({
    code: 'limit/exceeded',
    limit,
    value: bytesMax,
    scope: 'workspace',
  })
  const editor = { organizationId: 'acme', documentId: 'document', editorId: 'main' }
  expect((await server.post('/v2/crdt/versions/create', editor)).status).toBe(429)
  const ada = { userId: 'ada' }
  for (const [path, data] of [
    ['/v2/notifications/config/set', { userIds: ['ada'], config: { inbox: 'NONE' } }],
    ['/v1/organizations/usergroups/users/add', { organizationUserGroupId: 'crew', userIds: ['ada'] }],
    [
      '/v2/commentannotations/comments/reactions/add',
      {
        documentId: 'document',
        annotationId: 'a',
        commentId: 'c',
        actionUser: ada,
        reactions: [{ reaction: '👍' }],
      },
    ],
  ] as const)
    expect(await server.post(path, { organizationId: 'acme', ...data }), path).toMatchObject({ status: 429 })
  expect((await server.post('/v2/crdt/get', { ...editor, type: 'text' })).status).toBe(200)
  expect((await usage())?.storedBytes).toBeGreaterThanOrEqual(bytesMax)
  const other = await otherWorkspace(server)
  expect((await add('another', 'text', other.headers)).status).toBe(200)
  const gone = { organizationId: 'acme', documentIds: ['document'] }
  expect((await server.post('/v2/organizations/documents/delete', gone)).status).toBe(200)
  // Deleted data counts until it is purged.
  const [deletion] = dataOf(await server.post('/v2/workspace/deleted/get', {})) as [{ deletionId: string }]
  const { deletionId } = deletion
  expect((await server.post('/v2/workspace/deleted/purge', { deletionId })).status).toBe(200)
  await eventually(async () => {
    offsetMs += 11_000
    return (await add('another', 'text')).status === 200
  })
})

it('[LIM-23] when the workspace is full, accepts REST updates that only delete content, and rejects other updates', async () => {
  await start()
  await fill()
  const editor = { organizationId: 'acme', documentId: 'document', editorId: 'main' }
  const stored = new Y.Doc()
  for (const update of (await connect()).offers()) Y.applyUpdate(stored, update)
  const text = stored.getText('content')
  const updates: Uint8Array[] = []
  stored.on('update', (update: Uint8Array) => updates.push(update))
  const apply = (update: Uint8Array) =>
    server.post('/v2/crdt/apply', { ...editor, create: true, update: Buffer.from(update).toString('base64') })
  expect((await apply(typed('one more', 9))).status).toBe(429)
  text.delete(0, 10_000)
  expect((await apply(updates[0] as Uint8Array)).status).toBe(200)
  const replace = (data: string, documentId = 'document') =>
    server.post('/v2/crdt/update', { ...editor, documentId, type: 'text', data, upsert: true })
  const shorter = text.toString().slice(0, 20_000)
  expect((await replace(`${shorter}é`)).status).toBe(429)
  expect((await replace('', 'another')).status).toBe(429)
  expect((await replace(shorter)).status).toBe(200)
  expect((await replace('')).status).toBe(200)
  expect(contentOf((await connect()).offers())).toBe('')
  expect(await metric(server, 'weft_workspaces_full')).toBe(1)
})

it('[LIM-23] when the workspace is full, a node of a cluster accepts replacements that only delete content', async () => {
  const nodes = await startNodes(1, { [limit]: bytesMax })
  onTestFinished(nodes.stop)
  const post = nodes.servers[0]?.post as TestServer['post']
  const editor = { organizationId: 'acme', documentId: 'document', editorId: 'main', type: 'text' }
  const data = letters(40_000)
  expect((await post('/v2/crdt/add', { ...editor, data })).status).toBe(200)
  expect((await post('/v2/crdt/update', { ...editor, data: `${data}é` })).status).toBe(429)
  expect((await post('/v2/crdt/update', { ...editor, data: data.slice(0, 100) })).status).toBe(200)
  const read = dataOf(await post('/v2/crdt/get', { ...editor, format: 'text' }))
  expect(read).toMatchObject([{ data: data.slice(0, 100) }])
})

it('[LIM-61] counts the content that branches, versions and copies add, not the size of the call', async () => {
  const editor = { organizationId: 'acme', documentId: 'document', editorId: 'main' }
  const copies: Readonly<Record<string, (index: number) => readonly [path: string, data: object]>> = {
    branches: (index) => ['/v2/crdt/branches/create', { ...editor, name: `branch ${index}`, userId: 'ada' }],
    patches: (index) => [
      '/v2/crdt/edit',
      {
        ...editor,
        contentKey: 'map',
        edits: [{ patch: [{ op: 'copy', from: '/text', path: `/${index}` }] }],
      },
    ],
    versions: () => ['/v2/crdt/versions/create', editor],
  }
  for (const copy of Object.values(copies)) {
    await start()
    const map = { ...editor, contentKey: 'map', type: 'map', data: { text: letters(10_000) } }
    expect((await server.post('/v2/crdt/add', map)).status).toBe(200)
    const statuses: number[] = []
    for (let index = 0; index < 6; index++) {
      // Each version has content of its own.
      const change = { ...map, data: { ...map.data, [index]: letters(5) } }
      if (copy === copies.versions) await server.post('/v2/crdt/update', change)
      statuses.push((await server.post(...copy(index))).status)
    }
    expect(statuses[0]).toBe(200)
    expect(statuses[5]).toBe(429)
    await server.stop()
  }
})

it('[LIM-24] applies the storage limit that the operator sets for one workspace', async () => {
  await start({ [limit]: 0 })
  await fill()
  expect(await usage()).toBeUndefined()
  expect((await add('first', 'text')).status).toBe(200)
  expect((await setLimit(30_000)).status).toBe(200)
  expect((await add('second', 'text')).body.error?.details).toEqual({
    code: 'limit/exceeded',
    limit,
    value: 30_000,
    scope: 'workspace',
  })
  expect(await usage()).toEqual({ storedBytes: expect.any(Number), storedBytesMax: 30_000 })
  await setLimit(1_000_000)
  expect((await add('third', 'text')).status).toBe(200)
  await setLimit(null)
  expect(await usage()).toBeUndefined()
  const made = await server.post(
    '/v2/workspace/create',
    { ownerEmail: 'grace@example.com', storedBytesMax: 1 },
    admin,
  )
  const { apiKey, apiKeyAuthToken } = dataOf(made) as { apiKey: string; apiKeyAuthToken: string }
  const headers = { 'x-service-api-key': apiKey, 'x-service-auth-token': apiKeyAuthToken }
  expect((await add('first', 'text', headers)).status).toBe(200)
  expect((await add('second', 'text', headers)).status).toBe(429)
  const unknown = { workspaceId: 'none', storedBytesMax: 1 }
  expect((await server.post('/v2/workspace/storagelimit/update', unknown, admin)).status).toBe(404)
})

it('[LIM-25] after a shutdown and after a crash, knows the correct number of stored bytes', async () => {
  const root = await mkdtemp(join(tmpdir(), 'weft-quota-'))
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 20 }))
  const [data, crashed] = [join(root, 'data'), join(root, 'crashed')]
  await start({ engine: 'level', dataDir: data })
  await fill()
  await cp(data, crashed, { recursive: true })
  for (const directory of [data, crashed]) {
    await server.stop()
    await start({ engine: 'level', dataDir: directory })
    // This is the first update after the start: no call has read the usage before.
    const client = await connect('late', await server.token('ada'))
    client.sendUpdate(typed('one more', 9))
    expect(await client.closed).toMatchObject({ code: 4413 })
    expect((await add('another', 'text')).status).toBe(429)
    expect((await usage())?.storedBytes).toBeGreaterThan(0.9 * bytesMax)
  }
})

it('[LIM-26] after at most one minute, a node also counts the bytes that other nodes have stored', async () => {
  offsetMs = 0
  const nodes = await startNodes(2, { [limit]: bytesMax }, { clock })
  onTestFinished(nodes.stop)
  const [here, there] = nodes.servers
  if (here === undefined || there === undefined) throw new Error('two nodes are needed')
  // Each node stores the documents that it owns.
  const addAt = async (server: NodeServer, data: string): Promise<number> => {
    const ids = documentOf({ nodes: [server.node], servers: [server] }, 0)
    return (await server.post('/v2/crdt/add', { ...ids, type: 'text', data })).status
  }
  expect(await addAt(here, 'text')).toBe(200)
  for (let part = 0; part < 4; part++) expect(await addAt(there, letters(10_000))).toBe(200)
  expect(await addAt(there, 'text')).toBe(429)
  expect(await addAt(here, 'text')).toBe(200)
  offsetMs += 60_000
  await eventually(async () => (await addAt(here, 'text')) === 429)
})
