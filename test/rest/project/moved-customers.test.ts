import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Answer, dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

const post = (path: string, data: object): Promise<Answer> => server.post(path, data)
const call = async (path: string, data: object): Promise<unknown> => dataOf(await post(path, data))
const resultOf = async (path: string, data: object): Promise<Record<string, unknown>> => {
  const { body } = await post(path, data)
  expect(body.error).toBeUndefined()
  return body.result as unknown as Record<string, unknown>
}

let organizations = 0
/** Adds an organization with the documents `one` and `two` and the user ann. */
async function organization(): Promise<string> {
  organizations += 1
  const organizationId = `moved-${organizations}`
  const documents = [{ documentId: 'one' }, { documentId: 'two' }]
  await call('/v2/organizations/documents/add', { organizationId, documents, createOrganization: true })
  await call('/v2/users/add', {
    organizationId,
    users: [{ userId: 'ann', name: 'Ann', email: 'ann@example.com' }],
  })
  return organizationId
}

it('[COMPAT-20] an empty list of ids, users or resources is nothing to do, and never stands for all', async () => {
  const organizationId = await organization()
  const documentId = 'one'
  const ids = { organizationId, documentId }
  const actionUser = { userId: 'ann' }
  const nothing: readonly (readonly [string, object, unknown])[] = [
    ['/v1/organizations/documents/get', { organizationId, documentIds: [] }, []],
    ['/v2/organizations/documents/get', { organizationId, documentIds: [] }, []],
    ['/v2/organizations/get', { organizationIds: [] }, []],
    ['/v2/users/get', { organizationId, userIds: [] }, []],
    ['/v2/activities/get', { organizationId, activityIds: [] }, []],
    ['/v2/presence/get', { ...ids, userIds: [] }, []],
    ['/v2/commentannotations/get', { ...ids, annotationIds: [] }, []],
    ['/v2/notifications/get', { organizationId, notificationIds: [] }, []],
    ['/v2/users/add', { organizationId, users: [] }, {}],
    ['/v2/users/update', { organizationId, users: [] }, {}],
    ['/v2/users/delete', { organizationId, userIds: [] }, {}],
    ['/v1/organizations/folders/add', { organizationId, folders: [] }, {}],
    ['/v2/organizations/delete', { organizationIds: [] }, {}],
    ['/v2/organizations/documents/delete', { organizationId, documentIds: [] }, {}],
    ['/v2/notifications/config/set', { organizationId, userIds: [], config: { inbox: 'ALL' } }, {}],
    ['/v2/notifications/update', { organizationId, notifications: [] }, {}],
    ['/v2/activities/add', { ...ids, activities: [] }, {}],
    ['/v2/activities/delete', { ...ids, activityIds: [] }, {}],
    ['/v2/commentannotations/add', { ...ids, actionUser, annotations: [] }, {}],
    ['/v2/commentannotations/delete', { ...ids, actionUser, annotationIds: [] }, {}],
    ['/v2/presence/add', { ...ids, users: [] }, { success: true }],
    ['/v2/presence/update', { ...ids, users: [] }, { success: true }],
    ['/v2/presence/delete', { ...ids, userIds: [] }, { success: true }],
    ['/v2/auth/permissions/get', { organizationId, userIds: [] }, {}],
  ]
  for (const [path, data, expected] of nothing) {
    const found = await call(path, data)
    if (Array.isArray(expected)) expect({ path, found }).toEqual({ path, found: expected })
    else expect({ path, found }).toMatchObject({ path, found: expected })
  }
  for (const operation of ['add', 'remove']) {
    const data = { user: { userId: 'ann' }, userId: 'ann', permissions: { resources: [] } }
    const { user, userId, permissions } = data
    const given = operation === 'add' ? { user, permissions } : { userId, permissions }
    expect(await resultOf(`/v2/auth/permissions/${operation}`, given)).toMatchObject({ status: 'success' })
  }
  expect(await call('/v1/organizations/documents/get', { organizationId })).toHaveLength(2)
})

it('[PRES-60] updates the presence of a user of the organization who has not opened the document', async () => {
  const ids = { organizationId: await organization(), documentId: 'one' }
  const update = (userId: string) =>
    call('/v2/presence/update', { ...ids, users: [{ userId, status: 'away' }] })
  expect(await update('ann')).toEqual({ success: true })
  expect(await update('nobody')).toEqual({ success: false })
  expect(await call('/v2/presence/get', ids)).toMatchObject([
    { userId: 'ann', name: 'Ann', email: 'ann@example.com', status: 'away', source: 'rest' },
  ])
})

it('[NOTE-60] sets the notification settings of as many documents as other batches, and names those that do not exist', async () => {
  const organizationId = await organization()
  const documentIds = Array.from({ length: 498 }, (_, index) => `more-${index}`)
  const documents = documentIds.map((documentId) => ({ documentId }))
  await call('/v2/organizations/documents/add', { organizationId, documents })
  const config = { inbox: 'MINE' }
  const set = (ids: readonly string[]) =>
    call('/v2/notifications/config/set', {
      organizationId,
      documentIds: ids,
      userIds: ['ann', 'bob'],
      config,
    })
  const done = { success: true, documentId: 'one', message: 'set for 500 documents' }
  expect(await set(['one', 'two', ...documentIds])).toEqual({
    ann: { ...done, userId: 'ann' },
    bob: { ...done, userId: 'bob' },
  })
  const partial = await set(['two', 'nowhere'])
  expect(partial).toMatchObject({
    ann: {
      success: false,
      message:
        'set for 1 documents; not for "nowhere": the document does not exist; add it with /v2/organizations/documents/add',
      details: { code: 'document/not-found', documentIds: ['nowhere'] },
    },
  })
  expect(
    await call('/v2/notifications/config/get', { organizationId, userId: 'bob', documentIds: ['two'] }),
  ).toMatchObject([{ documentId: 'two', config }])
})

it('[COMPAT-21] accepts the sizes of the original: 250 endpoints, a query and a notification of a page', async () => {
  const organizationId = await organization()
  await call('/v2/workspace/advancedwebhookconfig/update', { isEnabled: true })
  for (let index = 0; index < 250; index++)
    await call('/v2/workspace/advancedwebhook/endpoints/create', { url: `https://example.com/${index}` })
  const path = '/v2/workspace/advancedwebhook/endpoints'
  expect(((await call(`${path}/get`, { limit: 250 })) as { endpoints: unknown[] }).endpoints).toHaveLength(
    250,
  )
  expect((await post(`${path}/get`, { limit: 251 })).body.error?.status).toBe('INVALID_ARGUMENT')
  expect((await post(`${path}/create`, { url: 'https://example.com/more' })).status).toBe(400)
  const { body } = await post('/v2/memory/suggest', { query: 'word '.repeat(4_000) })
  expect(body.error).toBeUndefined()
  const notification = {
    organizationId,
    documentId: 'one',
    actionUser: { userId: 'ann' },
    displayHeadlineMessageTemplate: 'News',
    displayBodyMessage: 'x'.repeat(20_000),
    notifyUsers: [],
  }
  expect(await call('/v1/notifications/add', notification)).toMatchObject({ success: true })
})

it('[COMPAT-22] creates a missing organization or document of users, folders and grants, names it, and warns about a near miss', async () => {
  const organizationId = await organization()
  const users = [{ userId: 'ann' }]
  expect(await resultOf('/v2/users/add', { organizationId, users })).toMatchObject({ created: {} })
  expect(
    await resultOf('/v2/users/add', { organizationId: 'bakery', documentId: 'plan', users }),
  ).toMatchObject({
    data: { ann: { success: true } },
    created: { organizations: ['bakery'], documents: ['plan'] },
  })
  const folders = [{ folderId: 'f' }]
  expect(
    await resultOf('/v1/organizations/folders/add', { organizationId: 'bakrey', folders }),
  ).toMatchObject({
    created: { organizations: ['bakrey'] },
    warnings: ['created the organization "bakrey"; did you mean "bakery"?'],
  })
  const grant = (id: string, more: object = {}) => ({
    user: { userId: 'ann' },
    permissions: { resources: [{ type: 'document', id, organizationId: 'bakery', ...more }] },
  })
  expect(await resultOf('/v2/auth/permissions/add', grant('plna'))).toMatchObject({
    created: { documents: ['plna'] },
    warnings: ['created the document "plna"; did you mean "plan"?'],
  })
  const elsewhere = 'elsewhere'
  for (const [path, data] of [
    ['/v2/users/add', { organizationId: elsewhere, users }],
    ['/v1/organizations/folders/add', { organizationId: elsewhere, folders }],
    ['/v2/auth/permissions/add', grant('plan', { organizationId: elsewhere })],
  ] as const)
    expect((await post(path, { ...data, createOrganization: false })).body.error?.details?.code).toMatch(
      /^(organization|document)\/not-found$/,
    )
})
