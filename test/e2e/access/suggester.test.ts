import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually, RawClient, syncedEditor, typed } from '../../support/clients/clients.ts'
import { type Dialect, dialects, hocuspocusProvider } from '../../support/clients/protocol-clients.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const organizationId = 'acme'
const permissionDenied = [2, 0]

let server: TestServer
let documents = 0

beforeAll(async () => {
  server = await startTestServer()
})

afterAll(() => server?.stop())

const call = async (path: string, data: object): Promise<unknown> => dataOf(await server.post(path, data))
const pathOf = (documentId: string, editorId = 'main'): string =>
  [organizationId, documentId, editorId].map(encodeURIComponent).join('/')

/** Creates a document with the text `kept`, and returns its id. */
async function newDocument(): Promise<string> {
  const documentId = `suggested-${++documents}`
  await call('/v2/crdt/add', { organizationId, documentId, editorId: 'main', type: 'text', data: 'kept' })
  return documentId
}

const resourceOf = (documentId: string, accessRole: 'viewer' | 'suggester' | 'editor') =>
  ({ type: 'document', id: documentId, organizationId, accessRole }) as const
const grant = (userId: string, ...role: Parameters<typeof resourceOf>) =>
  call('/v2/auth/permissions/add', { user: { userId }, permissions: { resources: [resourceOf(...role)] } })

async function connect(documentId: string, userId: string, editorId?: string): Promise<RawClient> {
  const token = await server.token(userId)
  return RawClient.connect(`${server.wsUrl}/sync/${pathOf(documentId, editorId)}?token=${token}`)
}

async function textOf(documentId: string, editorId = 'main'): Promise<string> {
  const [{ data }] = (await call('/v2/crdt/get', { organizationId, documentId, editorId })) as [
    { data: string },
  ]
  return data
}

it.each<[string, Dialect]>(dialects.map((dialect) => [dialect.name, dialect]))(
  '[ACC-98] with %s, a suggester reads a document and shows presence, and the server drops its edits',
  async (_, dialect) => {
    const documentId = await newDocument()
    await grant('sue', documentId, 'suggester')
    const editor = await syncedEditor(server.wsUrl, pathOf(documentId), await server.token('ann'))
    const suggester = await dialect.open(server, documentId, await server.token('sue'))
    await eventually(() => suggester.text.toString() === 'kept')
    suggester.awareness.setLocalStateField('cursor', 3)
    await eventually(() =>
      [...editor.provider.awareness.getStates().values()].some((state) => state.cursor === 3),
    )
    suggester.text.insert(0, 'not ')
    editor.text.insert(4, ' and read')
    await eventually(() => suggester.text.toString() === 'not kept and read')
    expect(await textOf(documentId)).toBe('kept and read')
    suggester.close()
    editor.close()
  },
)

it('[ACC-98] the server states to a suggester that it may only read, in the same way as to a viewer', async () => {
  const documentId = await newDocument()
  await grant('sue', documentId, 'suggester')
  const raw = await connect(documentId, 'sue')
  raw.sendUpdate(typed('mine', 7))
  await eventually(() => raw.bodies(...permissionDenied).length > 0)
  expect(Buffer.from(raw.bodies(...permissionDenied)[0] as Uint8Array).toString()).toContain(
    'you may only suggest changes',
  )
  const provider = hocuspocusProvider(server, pathOf(documentId), await server.token('sue'))
  await eventually(() => provider.authorizedScope === 'readonly')
  await grant('sue', documentId, 'editor')
  await eventually(() => provider.authorizedScope === 'read-write')
  await grant('sue', documentId, 'suggester')
  await eventually(() => provider.authorizedScope === 'readonly')
  provider.destroy()
  provider.configuration.websocketProvider.destroy()
  raw.socket.close()
})

it('[ACC-98] a suggester does not create a document by connecting to it', async () => {
  await grant('sue', await newDocument(), 'suggester')
  await call('/v2/auth/permissions/add', {
    user: { userId: 'sue' },
    permissions: { resources: [{ type: 'organization', id: organizationId, accessRole: 'suggester' }] },
  })
  const client = await connect('unknown', 'sue')
  client.sendUpdate(typed('mine', 7))
  await client.roundTrip()
  const { status } = await server.post('/v2/crdt/get', { organizationId, documentId: 'unknown' })
  expect(status).toBe(404)
  client.socket.close()
  await call('/v2/auth/permissions/remove', {
    userId: 'sue',
    permissions: { resources: [{ type: 'organization', id: organizationId }] },
  })
})

it('[ACC-97] operations and tokens accept the role suggester and return it', async () => {
  const documentId = await newDocument()
  await grant('sue', documentId, 'suggester')
  const query = { organizationId, userIds: ['sue'], documentIds: [documentId] }
  expect(await call('/v2/auth/permissions/get', query)).toMatchObject({
    sue: { documents: { [documentId]: { accessRole: 'suggester' } } },
  })
  const inspect = async (accessRole: Parameters<typeof resourceOf>[1]) => {
    const token = await server.token('sue', { resources: [resourceOf(documentId, accessRole)] })
    return call('/v2/auth/inspect_token', { token, organizationId, documentId })
  }
  expect(await inspect('editor')).toMatchObject({
    resources: [{ accessRole: 'editor' }],
    accessRole: 'suggester',
  })
  expect(await inspect('suggester')).toMatchObject({
    resources: [{ accessRole: 'suggester' }],
    accessRole: 'suggester',
  })
  expect(await inspect('viewer')).toMatchObject({ accessRole: 'viewer' })
  const client = await connect(documentId, 'sue')
  await client.roundTrip()
  expect(await call('/v2/connections/get', { organizationId, documentId })).toMatchObject([
    { userId: 'sue', accessRole: 'suggester' },
  ])
  client.socket.close()
  const users = [{ userId: 'sam', accessRole: 'suggester' }]
  await call('/v2/users/add', { organizationId, documentId, users })
  const found = (await call('/v2/users/get', { organizationId, documentId })) as object[]
  expect(found).toContainEqual(expect.objectContaining({ userId: 'sam', accessRole: 'suggester' }))
})

const createBranch = (documentId: string, userId: string) =>
  call('/v2/crdt/branches/create', { organizationId, documentId, editorId: 'main', name: 'idea', userId })

it.each<[string, Dialect]>(dialects.map((dialect) => [dialect.name, dialect]))(
  '[ACC-99] with %s, a suggester writes a branch that it created, and no branch of another user',
  async (_, dialect) => {
    const documentId = await newDocument()
    for (const userId of ['sue', 'sam']) await grant(userId, documentId, 'suggester')
    await createBranch(documentId, 'sue')
    const open = async (userId: string) =>
      dialect.open(server, documentId, await server.token(userId), 'main@idea')
    const [sue, sam] = [await open('sue'), await open('sam')]
    await eventually(() => sue.text.toString() === 'kept' && sam.text.toString() === 'kept')
    sam.text.insert(0, 'not ')
    sue.text.insert(4, ' and changed')
    await eventually(() => sam.text.toString() === 'not kept and changed')
    expect(await textOf(documentId, 'main@idea')).toBe('kept and changed')
    expect(await textOf(documentId)).toBe('kept')
    for (const person of [sue, sam]) person.close()
  },
)

it('[ACC-99] an editor writes the branches of all users, and a viewer writes no branch, also not its own one', async () => {
  const documentId = await newDocument()
  await grant('vic', documentId, 'viewer')
  await createBranch(documentId, 'vic')
  const vic = await connect(documentId, 'vic', 'main@idea')
  vic.sendUpdate(typed('mine', 7))
  await eventually(() => vic.bodies(...permissionDenied).length > 0)
  const ann = await connect(documentId, 'ann', 'main@idea')
  ann.sendUpdate(typed('edited ', 8))
  await ann.roundTrip()
  expect(await textOf(documentId, 'main@idea')).toContain('edited')
  expect(await textOf(documentId, 'main@idea')).not.toContain('mine')
  for (const { socket } of [vic, ann]) socket.close()
})

it('[ACC-100] when a branch is rejected, it becomes read-only for open connections, and the notice names the reason', async () => {
  const documentId = await newDocument()
  await grant('sue', documentId, 'suggester')
  await createBranch(documentId, 'sue')
  const token = await server.token('sue')
  const provider = hocuspocusProvider(server, pathOf(documentId, 'main@idea'), token)
  await eventually(() => provider.authorizedScope === 'read-write')
  const raw = await connect(documentId, 'sue', 'main@idea')
  await call('/v2/crdt/branches/reject', {
    organizationId,
    documentId,
    editorId: 'main',
    name: 'idea',
    userId: 'ann',
  })
  await eventually(() => provider.authorizedScope === 'readonly')
  raw.sendUpdate(typed('too late ', 7))
  await eventually(() => raw.bodies(...permissionDenied).length > 0)
  const [reason] = raw.bodies(...permissionDenied) as [Uint8Array]
  expect(Buffer.from(reason).toString()).toContain('merged or rejected')
  expect(await textOf(documentId, 'main@idea')).not.toContain('too late')
  provider.destroy()
  provider.configuration.websocketProvider.destroy()
  raw.socket.close()
})
