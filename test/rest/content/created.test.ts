import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { operationList } from '../../../src/capabilities/list.ts'
import { type Answer, dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

const call = (operation: string, data: object): Promise<Answer> => server.post(`/v2/crdt/${operation}`, data)
const createdBy = async (answer: Promise<Answer>): Promise<unknown> =>
  ((await answer).body.result as { created?: unknown } | undefined)?.created
const warningsOf = async (answer: Promise<Answer>): Promise<unknown> => {
  const { body } = await answer
  expect(body.error).toBeUndefined()
  return (body.result as { warnings?: unknown }).warnings
}
const text = (organizationId: string, documentId: string, editorId: string, more: object = {}) => ({
  organizationId,
  documentId,
  editorId,
  type: 'text',
  data: 'some text',
  ...more,
})

it('[CRDT-61] each write names what it has created: the organization, the document, the editor and the root', async () => {
  const upsert = { upsert: true }
  const created = { organization: 'made', document: 'd', editor: 'main', root: 'content' }
  expect(await createdBy(call('update', text('made', 'd', 'main', upsert)))).toEqual(created)
  expect(await createdBy(call('update', text('made', 'd', 'main', upsert)))).toEqual({})
  expect(await createdBy(call('update', text('made', 'd', 'side', upsert)))).toEqual({
    editor: 'side',
    root: 'content',
  })
  expect(await createdBy(call('add', text('made', 'e', 'main', { contentKey: 'body' })))).toEqual({
    document: 'e',
    editor: 'main',
    root: 'body',
  })
  const edits = [{ replace: { find: 'some', with: 'more' } }]
  expect(await createdBy(call('edit', { ...address('made', 'd'), edits }))).toEqual({})
  const doc = new Y.Doc()
  doc.getText('content').insert(0, 'Hi')
  const update = Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64')
  const applied = { ...address('made', 'f'), update, create: true }
  expect(await createdBy(call('apply', applied))).toEqual({ document: 'f', editor: 'main' })
  expect(await createdBy(call('apply', applied))).toEqual({})
})

/** Members by which a call asks for something that it only names. */
const createFlags = [
  'createMissing',
  'createOrganization',
  'createFolder',
  'createDocument',
  'create',
  'upsert',
]

it('[CRDT-61] each operation that can create answers with what it has created, and warns of a near miss', () => {
  const creating = operationList.filter(({ request }) =>
    createFlags.some((flag) => Object.hasOwn(request.properties, flag)),
  )
  expect(creating.length).toBeGreaterThan(8)
  expect(creating.filter(({ creates, warns }) => creates !== true || warns !== true)).toEqual([])
})

const organizations = '/v2/organizations'
const users = [{ userId: 'ann', name: 'Ann' }]
const named = { createOrganization: true, createDocument: true }
const notification = {
  actionUser: users[0],
  displayHeadlineMessageTemplate: 'News',
  displayBodyMessage: 'News',
  notifyUsers: users,
}
it.each([
  ['/v1/notifications/add', { ...notification, ...named }],
  ['/v2/presence/add', { users, ...named }],
  ['/v2/commentannotations/add', { actionUser: users[0], annotations: [{}], ...named }],
])('[CRDT-61] %s names the organization and the document that it has created', async (path, data) => {
  const organizationId = path.replaceAll('/', '-').slice(1)
  const post = async (documentId: string) => {
    const { body } = await server.post(path, { organizationId, documentId, ...data })
    return { ...body.result, error: body.error }
  }
  const created = { organizations: [organizationId], documents: ['handbook'] }
  expect(await post('handbook')).toMatchObject({ created })
  expect(await post('handbook')).toMatchObject({ created: {} })
  expect(await post('handobok')).toMatchObject({
    created: { documents: ['handobok'] },
    warnings: ['created the document "handobok"; did you mean "handbook"?'],
  })
})

it('[CRDT-61] documents/add names the organization and the folders that it has created', async () => {
  const flags = { organizationId: 'shelf', createOrganization: true, createFolder: true }
  const add = async (...documents: readonly object[]) =>
    (await server.post(`${organizations}/documents/add`, { ...flags, documents })).body.result
  const first = await add({ documentId: 'a', folderId: 'plans' }, { documentId: 'b', folderId: 'plans' })
  expect(first).toMatchObject({ created: { organizations: ['shelf'], folders: ['plans'] } })
  expect(await add({ documentId: 'c', folderId: 'plans' })).toMatchObject({ created: {} })
  expect(await add({ documentId: 'a', folderId: 'other' })).toMatchObject({ created: {} })
  expect(await add({ documentId: 'd', folderId: 'palns' })).toMatchObject({
    created: { folders: ['palns'] },
    warnings: ['created the folder "palns"; did you mean "plans"?'],
  })
})

it('[CRDT-61] branches/create names the editor of the branch', async () => {
  await call('add', text('branched', 'd', 'main'))
  const branch = { ...address('branched', 'd'), name: 'draft', userId: 'ann' }
  expect(await createdBy(call('branches/create', branch))).toEqual({ editor: 'main@draft' })
})

const address = (organizationId: string, documentId: string) => ({
  organizationId,
  documentId,
  editorId: 'main',
})

it('[CRDT-62] rejects a root that an editor with content does not have, unless the call asks for a new one', async () => {
  const named = (contentKey: string, more: object = {}) =>
    call('update', text('acme', 'rooted', 'main', { contentKey, ...more }))
  await named('default', { upsert: true })
  const { status, body } = await named('defualt', { upsert: true })
  expect(status).toBe(404)
  expect(body.error).toMatchObject({
    status: 'NOT_FOUND',
    message: expect.stringMatching(
      /"defualt"; its roots are "default" \(did you mean "default"\?\); newRoot: true/,
    ),
    details: { code: 'crdt/root-not-found', roots: ['default'] },
  })
  expect(dataOf(await call('get', { ...address('acme', 'rooted'), format: 'roots' }))).toMatchObject([
    { data: [{ contentKey: 'default' }] },
  ])
  const misspelled = named('defualt', { newRoot: true })
  expect(await createdBy(misspelled)).toEqual({ root: 'defualt' })
  expect(await warningsOf(misspelled)).toEqual(['created the root "defualt"; did you mean "default"?'])
  expect(await warningsOf(named('notes', { newRoot: true }))).toBeUndefined()
  // Several roots, and none has the default name.
  const { body: unnamed } = await call('update', text('acme', 'rooted', 'main'))
  expect(unnamed.error?.details?.code).toBe('crdt/root-not-found')
})

it('[CRDT-63] warns about a new id that is most likely a misspelling of an existing one', async () => {
  const write = (organizationId: string, documentId: string, editorId = 'main') =>
    warningsOf(call('update', text(organizationId, documentId, editorId, { upsert: true })))
  const meant = (kind: string, made: string, other: string): string[] => [
    `created the ${kind} "${made}"; did you mean "${other}"?`,
  ]
  expect(await write('customers', 'handbook')).toBeUndefined()
  expect(await write('customesr', 'handbook')).toEqual(meant('organization', 'customesr', 'customers'))
  expect(await write('customers', 'Hand-book')).toEqual(meant('document', 'Hand-book', 'handbook'))
  expect(await write('customers', 'handbook', 'mian')).toEqual(meant('editor', 'mian', 'main'))
  for (const documentId of ['page-1', 'page-2', 'part a', 'part b', 'other'])
    expect(await write('customers', documentId)).toBeUndefined()
})
