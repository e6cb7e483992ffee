import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
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
