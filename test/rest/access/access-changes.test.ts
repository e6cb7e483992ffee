import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import { RawClient } from '../../support/clients/clients.ts'
import { dataOf, startTestServer, type TestServer, type TokenOptions } from '../../support/servers/server.ts'

let server: TestServer
let made = 0
let organizationId: string
let document: { organizationId: string; documentId: string; editorId: string }

beforeAll(async () => {
  server = await startTestServer()
})

afterAll(() => server.stop())

beforeEach(async () => {
  made += 1
  organizationId = `acme ${made}`
  document = { organizationId, documentId: 'plan', editorId: 'main' }
  await done('/v2/crdt/add', { ...document, type: 'text', data: '' })
})

/** Calls an operation, which must succeed; returns its data. */
async function done(path: string, data: object): Promise<unknown> {
  const answer = await server.post(path, data)
  if (answer.status !== 200) throw new Error(`${path}: ${answer.body.error?.message}`)
  return answer.body.result?.data
}

const pathOf = ({ organizationId, documentId, editorId }: typeof document): string =>
  [organizationId, documentId, editorId].map(encodeURIComponent).join('/')

async function connect(userId: string, options: TokenOptions = {}): Promise<RawClient> {
  const token = await server.token(userId, options)
  return RawClient.connect(`${server.wsUrl}/sync/${pathOf(document)}?token=${token}`)
}

let edits = 0

/** Returns whether an edit of the client becomes part of the document. */
async function canEdit(client: RawClient): Promise<boolean> {
  const doc = new Y.Doc()
  doc.getMap('edits').set(`edit ${++edits}`, true)
  client.sendUpdate(Y.encodeStateAsUpdate(doc))
  await client.roundTrip()
  const [entry] = (await done('/v2/crdt/get', { ...document, format: 'update' })) as [{ data: string }]
  const stored = new Y.Doc()
  Y.applyUpdate(stored, Buffer.from(entry.data, 'base64'))
  return stored.getMap('edits').has(`edit ${edits}`)
}

const resource = (type: string, id: string, more: object = {}) => ({
  type,
  id,
  ...(type !== 'organization' && { organizationId }),
  ...more,
})

const grant = (userId: string, ...resources: object[]) =>
  done('/v2/auth/permissions/add', { user: { userId }, permissions: { resources } })
const revoke = (userId: string, ...resources: object[]) =>
  done('/v2/auth/permissions/remove', { userId, permissions: { resources } })
const restrict = (accessType = 'restricted') =>
  done('/v2/organizations/documents/access/update', { organizationId, documentIds: ['plan'], accessType })

/** Resolves with the close code, which must come within a second. */
async function endOf(client: RawClient): Promise<number> {
  const late = new Promise<'late'>((resolve) => setTimeout(resolve, 1_000, 'late'))
  const ended = await Promise.race([client.closed, late])
  if (ended === 'late') throw new Error('the socket is open after a second')
  return ended.code
}

it('[ACC-15] if a token lists a resource twice, uses only the last entry, even if that entry has expired', async () => {
  const named = (more: object) => resource('document', 'plan', more) as never
  const [editor, viewer] = [named({ accessRole: 'editor' }), named({ accessRole: 'viewer' })]
  expect(await canEdit(await connect('ada', { resources: [editor, viewer] }))).toBe(false)
  expect(await canEdit(await connect('ada', { resources: [viewer, editor] }))).toBe(true)
  const refused = await connect('ada', { resources: [editor, named({ expiresAt: 1 })] })
  expect(await endOf(refused)).toBe(4404)
})

it('[ACC-70] when the role of a user changes, applies the new role to an open session from the next message on', async () => {
  await grant('ada', resource('document', 'plan', { accessRole: 'editor' }))
  const client = await connect('ada')
  expect(await canEdit(client)).toBe(true)
  await grant('ada', resource('document', 'plan', { accessRole: 'viewer' }))
  expect(await canEdit(client)).toBe(false)
  await grant('ada', resource('document', 'plan', { accessRole: 'editor' }))
  expect(await canEdit(client)).toBe(true)
  client.socket.close()
})

it('[ACC-70] when the role of a user rises, a session gets at most the role that its token grants', async () => {
  await grant('ada', resource('document', 'plan', { accessRole: 'viewer' }))
  const resources = [{ type: 'document', id: 'plan', organizationId, accessRole: 'viewer' }] as const
  const client = await connect('ada', { resources })
  expect(await canEdit(client)).toBe(false)
  await grant('ada', resource('document', 'plan', { accessRole: 'editor' }))
  expect(await canEdit(client)).toBe(false)
  client.socket.close()
})

it('[ACC-71] when a right is revoked, closes the socket with 4403 within a second, and rejects a reconnect with 4404', async () => {
  await restrict()
  expect(await endOf(await connect('ada'))).toBe(4404)
  await grant('ada', resource('document', 'plan'))
  const client = await connect('ada')
  expect(await canEdit(client)).toBe(true)
  await revoke('ada', resource('document', 'plan'))
  expect(await endOf(client)).toBe(4403)
  expect(await endOf(await connect('ada'))).toBe(4404)
})

it('[ACC-71] when a permission expires, closes the socket with 4403', async () => {
  await restrict()
  await grant('ada', resource('document', 'plan', { expiresAt: Math.floor(Date.now() / 1000) + 2 }))
  const client = await connect('ada')
  expect(await canEdit(client)).toBe(true)
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  expect(client.socket.readyState).toBe(client.socket.OPEN)
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  expect(await endOf(client)).toBe(4403)
})

it('[ACC-71] closes the socket with 4403 when its document becomes restricted or disabled', async () => {
  const client = await connect('ada')
  await restrict()
  expect(await endOf(client)).toBe(4403)
  await restrict('public')
  const again = await connect('ada')
  expect(await canEdit(again)).toBe(true)
  const disable = (disabled: boolean) =>
    done('/v2/organizations/documents/update', {
      organizationId,
      documents: [{ documentId: 'plan', disabled }],
    })
  await disable(true)
  expect(await endOf(again)).toBe(4403)
  expect((await (await connect('ada')).closed).code).toBe(4403)
  for (const operation of ['update', 'add']) {
    const answer = await server.post(`/v2/crdt/${operation}`, { ...document, type: 'text', data: 'x' })
    expect(answer.body.error?.status).toBe('FAILED_PRECONDITION')
  }
  await disable(false)
  expect(await canEdit(await connect('ada'))).toBe(true)
})

it('[ACC-72] applies the rights of a group to its members', async () => {
  await restrict()
  await done('/v1/organizations/usergroups/add', {
    organizationId,
    organizationUserGroups: [{ groupId: 'writers', groupName: 'Writers' }],
  })
  await done('/v2/auth/permissions/add', {
    organizationUserGroupId: 'writers',
    permissions: { resources: [resource('document', 'plan')] },
  })
  const members = { organizationId, organizationUserGroupId: 'writers', userIds: ['ada'] }
  await done('/v1/organizations/usergroups/users/add', members)
  const client = await connect('ada')
  expect(await canEdit(client)).toBe(true)
  await done('/v1/organizations/usergroups/users/delete', members)
  expect(await endOf(client)).toBe(4403)
})

it('[ACC-72] applies rights on a folder to the documents in it, and closes the socket with 4403 when the document leaves the folder', async () => {
  await restrict()
  const folders = [{ folderId: 'inner', folderName: '', parentFolderId: 'outer' }, { folderId: 'outer' }]
  await done('/v1/organizations/folders/add', { organizationId, folders })
  const move = (folderId: string) =>
    done('/v2/organizations/documents/move', { organizationId, documentIds: ['plan'], folderId })
  await move('inner')
  await grant('ada', resource('folder', 'outer'))
  const client = await connect('ada', {
    resources: [{ type: 'folder', id: 'outer', organizationId, accessRole: 'editor' }],
  })
  expect(await canEdit(client)).toBe(true)
  await move('root')
  expect(await endOf(client)).toBe(4403)
})

it('[ACC-73] keeps the sockets of other users open when the rights of one user change', async () => {
  await restrict()
  for (const userId of ['ada', 'grace']) await grant(userId, resource('document', 'plan'))
  const [ada, grace] = [await connect('ada'), await connect('grace')]
  await revoke('ada', resource('document', 'plan'))
  expect(await endOf(ada)).toBe(4403)
  expect(await canEdit(grace)).toBe(true)
  grace.socket.close()
})

it('[ACC-74] when REST or a websocket sends the first content, creates the organization and the document with it', async () => {
  const documentsOf = async () =>
    (await done('/v2/organizations/documents/get', { organizationId })) as { id: string }[]
  expect((await documentsOf()).map(({ id }) => id)).toEqual(['plan'])
  document = { ...document, documentId: 'typed' }
  const client = await connect('ada')
  expect(await canEdit(client)).toBe(true)
  client.socket.close()
  await done('/v2/crdt/update', { ...document, documentId: 'made', type: 'text', data: 'x', upsert: true })
  const doc = new Y.Doc()
  doc.getText('content').insert(0, 'x')
  const update = Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64')
  await done('/v2/crdt/apply', { ...document, documentId: 'applied', update, create: true })
  await done('/v2/crdt/update', {
    ...document,
    documentId: 'dry',
    type: 'text',
    data: 'x',
    upsert: true,
    dryRun: true,
  })
  const ids = (await documentsOf()).map(({ id }) => id)
  expect(ids.toSorted()).toEqual(['applied', 'made', 'plan', 'typed'])
  expect(
    dataOf(await server.post('/v2/organizations/get', { organizationIds: [organizationId] })),
  ).toMatchObject([{ id: organizationId }])
})
