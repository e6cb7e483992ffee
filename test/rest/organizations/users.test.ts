import { afterAll, beforeAll, expect, it } from 'vitest'
import { userMetadataBytesMax } from '../../../src/core/directory/organizations/user-records.ts'
import { TenantStore } from '../../../src/core/directory/tenants/tenant-store.ts'
import { openDirectory, scopeOf } from '../../support/data/directory.ts'
import {
  errorOf,
  type ItemResults,
  oddIds,
  type PeopleServer,
  startPeopleServer,
} from '../../support/servers/acme-server.ts'

interface UserRow {
  userId: string
  name: string
  accessRole?: string
  expiresAt?: number
}

let server: PeopleServer
beforeAll(async () => {
  server = await startPeopleServer()
})
afterAll(() => server.stop())

const organization = async (organizationId: string): Promise<object> => {
  await server.directory.organizations.ensure(scopeOf(server.credentials, organizationId))
  return { organizationId }
}
const add = (data: object) => server.call<ItemResults>('/v2/users/add', data)
const get = (data: object = {}) => server.call<UserRow[]>('/v2/users/get', data)
const remove = (data: object) => server.call<ItemResults>('/v2/users/delete', data)
const roles = async (data: object) => (await get(data)).map(({ userId, accessRole }) => [userId, accessRole])
const permit = (resource: object, subject: object) =>
  server.post('/v2/auth/permissions/add', { ...subject, permissions: { resources: [resource] } })

it('[USER-1] gives users a role on the organization, a folder or a document', async () => {
  const at = await organization('add-1')
  const results = await add({ ...at, users: [{ userId: 'ann', accessRole: 'viewer' }, { userId: 'bob' }] })
  expect(results).toEqual({
    ann: { success: true, id: 'ann', message: 'added' },
    bob: { success: true, id: 'bob', message: 'added' },
  })
  expect(await roles(at)).toEqual([
    ['ann', 'viewer'],
    ['bob', 'editor'],
  ])
  await add({ folderId: 'f1', users: [{ userId: 'cy' }] })
  await add({ documentId: 'd1', users: [{ userId: 'dee', accessRole: 'viewer' }] })
  expect([await roles({ folderId: 'f1' }), await roles({ documentId: 'd1' })]).toEqual([
    [['cy', 'editor']],
    [['dee', 'viewer']],
  ])
  expect(await get({ userIds: ['cy', 'dee'] })).toMatchObject([{ userId: 'cy' }, { userId: 'dee' }])
  expect((await get({ userIds: ['cy'] }))[0]).not.toHaveProperty('accessRole')
})

it('[USER-2] gives a new user the role editor by default, but keeps the role of an existing user', async () => {
  const at = await organization('add-2')
  await add({ ...at, users: [{ userId: 'ann', accessRole: 'viewer' }] })
  await add({ ...at, users: [{ userId: 'ann', name: 'Ann' }, { userId: 'bob' }] })
  expect(await roles(at)).toEqual([
    ['ann', 'viewer'],
    ['bob', 'editor'],
  ])
  await add({ ...at, users: [{ userId: 'ann', accessRole: 'editor' }] })
  expect((await roles(at))[0]).toEqual(['ann', 'editor'])
})

it('[USER-3] changes the given members of an existing user, and keeps the other members', async () => {
  const at = await organization('add-3')
  const ann = {
    userId: 'ann',
    name: 'Ann',
    email: 'a@example.com',
    photoUrl: 'https://x/y',
    color: '#123456',
  }
  await add({ ...at, users: [{ ...ann, metadata: { team: 'red', size: 3 } }] })
  const [first] = await get(at)
  const createdAt = server.clock.now()
  expect(first).toEqual({
    ...ann,
    metadata: { team: 'red', size: 3 },
    accessRole: 'editor',
    createdAt,
    lastUpdated: createdAt,
  })
  server.clock.advance(1000)
  await add({ ...at, users: [{ userId: 'ann', name: 'Anna', metadata: { team: 'blue' } }] })
  expect(await get(at)).toEqual([
    { ...first, name: 'Anna', metadata: { team: 'blue' }, lastUpdated: createdAt + 1000 },
  ])
})

it('[USER-4] returns NOT_FOUND for a missing resource, unless a flag creates it', async () => {
  const users = [{ userId: 'ann' }]
  const post = (data: object) => server.post('/v2/users/add', { users, createMissing: false, ...data })
  for (const data of [
    { organizationId: 'new', createDocument: true, createFolder: true },
    { organizationId: 'new', documentId: 'd', createDocument: true },
    { organizationId: 'acme', documentId: 'new', createFolder: true, createOrganization: true },
    { organizationId: 'acme', folderId: 'new', createDocument: true },
    { organizationId: 'acme', folderId: 'root', createFolder: true },
  ])
    expect(errorOf(await post(data))).toEqual(['NOT_FOUND'])
  const made = { organizationId: 'new', createOrganization: true }
  expect((await post(made)).status).toBe(200)
  expect((await post({ ...made, documentId: 'plan', createDocument: true })).status).toBe(200)
  expect((await post({ ...made, folderId: 'box', createFolder: true })).status).toBe(200)
  expect(await roles({ organizationId: 'new', documentId: 'plan' })).toEqual([['ann', 'editor']])
  expect(await roles({ organizationId: 'new', folderId: 'box' })).toEqual([['ann', 'editor']])
  expect((await post({ ...made, documentId: 'plan', createDocument: true })).status).toBe(200)
})

it('[USER-5] if a user is listed twice, uses the last entry; rejects a call with both a folder and a document', async () => {
  const at = await organization('add-5')
  const users = [
    { userId: 'ann', name: 'First', email: 'first@example.com' },
    { userId: 'bob' },
    { userId: 'ann', name: 'Last', accessRole: 'viewer' },
  ]
  const results = await add({ ...at, users })
  expect([results.ann?.success, results.bob?.success]).toEqual([true, true])
  expect(await roles(at)).toEqual([
    ['ann', 'viewer'],
    ['bob', 'editor'],
  ])
  expect(await server.call('/v2/users/get', { ...at, userIds: ['ann'] })).toMatchObject([
    { name: 'Last', email: '' },
  ])
  const both = { organizationId: 'acme', folderId: 'f1', documentId: 'd1' }
  for (const [name, more] of Object.entries({
    add: { users: [{ userId: 'x' }] },
    update: { users: [{ userId: 'x' }] },
    get: {},
    delete: { userIds: ['x'] },
  }))
    expect(errorOf(await server.post(`/v2/users/${name}`, { ...both, ...more }))).toEqual([
      'INVALID_ARGUMENT',
      '/data/documentId',
    ])
})

it('[USER-6] updates only users of the given resource', async () => {
  const at = await organization('update-6')
  await add({ ...at, users: [{ userId: 'ann', name: 'Ann' }] })
  const update = (data: object) => server.call<ItemResults>('/v2/users/update', data)
  const results = await update({
    ...at,
    users: [{ userId: 'ann', email: 'ann@example.com', accessRole: 'viewer' }, { userId: 'nobody' }],
  })
  expect([results.ann?.success, results.nobody?.success]).toEqual([true, false])
  expect(await get(at)).toMatchObject([
    { userId: 'ann', name: 'Ann', email: 'ann@example.com', accessRole: 'viewer' },
  ])
  await add({ users: [{ userId: 'elsewhere' }] })
  expect((await update({ documentId: 'd2', users: [{ userId: 'elsewhere' }] })).elsewhere?.success).toBe(
    false,
  )
  expect(
    errorOf(await server.post('/v2/users/update', { organizationId: 'none', users: [{ userId: 'x' }] })),
  ).toEqual(['NOT_FOUND'])
})

it('[USER-7] when the role of a user on a document changes, keeps its expiry, and gives the user no role on the organization', async () => {
  const expiresAt = server.clock.now() / 1000 + 60
  const document = { type: 'document', id: 'd3', organizationId: 'acme' }
  await permit({ ...document, expiresAt }, { user: { userId: 'temp' } })
  const users = [{ userId: 'temp', accessRole: 'viewer' }]
  await server.call('/v2/users/update', { documentId: 'd3', users })
  expect(await get({ documentId: 'd3' })).toMatchObject([{ userId: 'temp', accessRole: 'viewer', expiresAt }])
  expect((await server.call<ItemResults>('/v2/users/update', { users })).temp?.success).toBe(false)
})

it('[USER-8] lists users in pages in the order of their ids, or returns the requested users', async () => {
  const at = await organization('list-8')
  const ids = Array.from({ length: 25 }, (_, index) => `user-${String(index).padStart(2, '0')}`)
  await add({ ...at, users: ids.toReversed().map((userId) => ({ userId })) })
  const seen: string[] = []
  let pageToken: string | undefined
  let pages = 0
  do {
    const { body } = await server.post('/v2/users/get', { ...at, pageSize: 10, pageToken })
    const result = body.result as { data: UserRow[]; pageToken?: string }
    seen.push(...result.data.map(({ userId }) => userId))
    pageToken = result.pageToken
    pages += 1
  } while (pageToken !== undefined)
  expect([seen, pages]).toEqual([ids, 3])
  expect(await get({ ...at, userIds: ['user-03', 'nobody', 'user-01', 'user-03'] })).toMatchObject([
    { userId: 'user-03' },
    { userId: 'user-01' },
  ])
  const many = { ...at, userIds: ids.concat(ids) }
  expect(errorOf(await server.post('/v2/users/get', many))).toEqual(['INVALID_ARGUMENT', '/data/userIds'])
  for (const pageSize of [0, 1.5])
    expect(errorOf(await server.post('/v2/users/get', { ...at, pageSize }))[1]).toBe('/data/pageSize')
  expect(errorOf(await server.post('/v2/users/get', { organizationId: 'none' }))).toEqual(['NOT_FOUND'])
})

it('[USER-9] accepts a page token only for the query that returned it', async () => {
  const at = await organization('token-9')
  await add({ ...at, users: [{ userId: 'a' }, { userId: 'b' }] })
  const { body } = await server.post('/v2/users/get', { ...at, pageSize: 1 })
  const { pageToken } = body.result as unknown as { pageToken: string }
  expect((await server.post('/v2/users/get', { ...at, pageToken })).status).toBe(200)
  const damaged = pageToken.replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A'))
  for (const other of [
    { organizationId: 'acme', pageToken },
    { organizationId: 'acme', documentId: 'd1', pageToken },
    { ...at, pageToken: damaged },
    { ...at, pageToken: '' },
  ])
    expect(errorOf(await server.post('/v2/users/get', other))).toEqual(['INVALID_ARGUMENT'])
})

it('[USER-10] when a user is deleted from a document, removes only the role on this document', async () => {
  await add({ users: [{ userId: 'leaver', name: 'Lee' }] })
  await add({ documentId: 'd1', users: [{ userId: 'leaver' }] })
  await add({ documentId: 'd2', users: [{ userId: 'leaver' }] })
  const results = await remove({ documentId: 'd1', userIds: ['leaver', 'stranger'] })
  expect([results.leaver?.success, results.stranger?.success]).toEqual([true, false])
  const idsIn = async (data: object) => (await get(data)).map(({ userId }) => userId)
  expect(await idsIn({ documentId: 'd1' })).not.toContain('leaver')
  expect(await idsIn({ documentId: 'd2' })).toContain('leaver')
  expect(await get({ userIds: ['leaver'] })).toMatchObject([{ name: 'Lee', accessRole: 'editor' }])
})

it('[USER-11] when a user is deleted from the organization, removes all data of the user, however much there is', async () => {
  const at = await organization('delete-11')
  const documentIds = Array.from({ length: 350 }, (_, index) => `doc-${index}`)
  const scope = scopeOf(server.credentials, 'delete-11')
  await server.directory.documents.add(
    scope,
    documentIds.map((documentId) => ({ documentId, accessType: 'organizationPrivate' })),
    { createFolder: false },
  )
  const resources = documentIds.map((id) => ({ type: 'document', id, organizationId: 'delete-11' }))
  await server.post('/v2/auth/permissions/add', { user: { userId: 'ann' }, permissions: { resources } })
  await add({ ...at, users: [{ userId: 'ann', name: 'Ann' }, { userId: 'bob' }] })
  await server.call('/v1/organizations/usergroups/users/add', {
    ...at,
    organizationUserGroupId: 'all',
    userIds: ['ann', 'bob'],
  })
  const results = await remove({ ...at, userIds: ['ann', 'nobody', 'ann'] })
  expect([results.ann?.success, results.nobody?.success]).toEqual([true, false])
  expect(await roles(at)).toEqual([['bob', 'editor']])
  expect(
    await server.call('/v2/organizations/usergroups/get', { ...at, organizationUserGroupId: 'all' }),
  ).toMatchObject([{ userIds: ['bob'] }])
  const left = await server.directory.store
    .read(scope)
    .scan({ prefix: ['grantsOf', 'user', 'ann'], limit: 10 })
  expect(left).toEqual([])
  await server.call('/v1/organizations/usergroups/users/add', {
    ...at,
    organizationUserGroupId: 'fresh',
    userIds: ['ann'],
  })
  expect(await get({ ...at, userIds: ['ann'] })).toMatchObject([{ name: '' }])
  const query = { userIds: ['ann'], folderIds: [], documentIds: ['doc-1'] }
  const report = await server.directory.permissionReader.read(scope, query)
  expect(report.users.ann?.documents['doc-1']).toMatchObject({ errorCode: 'permission_denied' })
})

it('[USER-11] when a user is deleted while grants are added, keeps each of these grants either completely or not at all', async () => {
  const at = await organization('delete-race')
  const scope = scopeOf(server.credentials, 'delete-race')
  const names = Array.from({ length: 20 }, (_, index) => `doc-${index}`)
  await server.directory.documents.add(
    scope,
    names.map((documentId) => ({ documentId })),
    { createFolder: false },
  )
  await add({ ...at, users: [{ userId: 'ann' }] })
  await Promise.all([
    ...names.map((id) =>
      permit({ type: 'document', id, organizationId: 'delete-race' }, { user: { userId: 'ann' } }),
    ),
    remove({ ...at, userIds: ['ann'] }),
  ])
  const reader = server.directory.store.read(scope)
  const index = await reader.scan({ prefix: ['grantsOf', 'user', 'ann'], limit: 100 })
  const grants = (await reader.scan({ prefix: ['grants'], limit: 100 })).filter(
    ({ key }) => key.at(-1) === 'ann',
  )
  expect(grants.length).toBe(index.length)
  expect((await get({ ...at, userIds: ['ann'] })).length).toBe(index.length > 0 ? 1 : 0)
})

it('[USER-11] if the deletion of a user was interrupted at any point, a repeated call completes it', async () => {
  const scope = { workspaceId: 'ws', apiKey: 'key', organizationId: 'acme' }
  const acme = { type: 'organization', id: 'acme' } as const
  const documents = Array.from({ length: 230 }, (_, index) => ({ documentId: `doc-${index}` }))
  let commits = 0
  for (let cutOffAt = 1, cutOff = true; cutOff; cutOffAt++) {
    const { engine, close, ...directory } = await openDirectory()
    await directory.organizations.ensure(scope)
    await directory.documents.add(scope, documents, { createFolder: false })
    const grant = { accessRole: 'editor', expiresAt: null } as const
    const inputs = documents.map(({ documentId }) => ({
      organizationId: 'acme',
      resource: { type: 'document', id: documentId } as const,
      grant,
    }))
    await directory.permissions.add(scope, { type: 'user', id: 'ann' }, inputs)
    const commit = engine.kv.commit.bind(engine.kv)
    commits = 0
    engine.kv.commit = (...parameters) => {
      commits += 1
      return commits === cutOffAt ? Promise.reject(new Error('cut off')) : commit(...parameters)
    }
    const first = await directory.users.remove(scope, acme, ['ann']).catch(() => 'cut off')
    cutOff = first === 'cut off'
    if (cutOff)
      expect(await directory.users.remove(scope, acme, ['ann'])).toMatchObject({ ann: { success: true } })
    const reader = directory.store.read(scope)
    for (const kind of ['users', 'grants', 'grantsOf'])
      expect(await reader.scan({ prefix: [kind], limit: 1 })).toEqual([])
    await close()
  }
  expect(commits).toBeGreaterThan(2)
})

it('[USER-12] when the metadata of a user is too large, rejects only this user', async () => {
  const at = await organization('metadata-12')
  const text = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) })
  const results = await add({
    ...at,
    users: [
      { userId: 'fits', metadata: text(userMetadataBytesMax) },
      { userId: 'big', metadata: text(userMetadataBytesMax + 1) },
    ],
  })
  expect([results.fits?.success, results.big?.success]).toEqual([true, false])
  expect(await roles(at)).toEqual([['fits', 'editor']])
})

it('[API-50] accepts every well-formed id of a user, and returns it unchanged', async () => {
  const at = await organization('odd-13')
  const results = await add({
    ...at,
    users: oddIds.map((userId) => ({ userId, name: userId.slice(0, 200) })),
  })
  expect(Object.keys(results).toSorted()).toEqual(oddIds.toSorted())
  const found = await get(at)
  expect(found.map(({ userId }) => userId).toSorted()).toEqual(oddIds.toSorted())
  for (const { userId, name } of found) expect(name).toBe(userId.slice(0, 200))
  const removed = await remove({ ...at, userIds: oddIds })
  expect(Object.values(removed).every(({ success }) => success)).toBe(true)
  expect(await get(at)).toEqual([])
})

it('[ACC-10] does not show users of another API key', async () => {
  const { workspaceId } = server.credentials
  const tenants = new TenantStore(server.engine.kv)
  const other = { workspaceId, apiKey: 'other-key' }
  await tenants.addApiKey({ id: other.apiKey, workspaceId, apiKeyName: '', type: 'testing', createdAt: 1 })
  await tenants.putAuthToken(other, { token: 'other-token', name: 'default', domains: [], createdAt: 1 })
  const headers = { 'x-service-api-key': other.apiKey, 'x-service-auth-token': 'other-token' }
  await add({ users: [{ userId: 'ann' }] })
  const at = { organizationId: 'acme' }
  const resources = [{ type: 'organization', id: 'acme' }]
  for (const [path, data] of [
    ['/v2/users/get', at],
    ['/v2/users/add', { ...at, users: [{ userId: 'x' }], createMissing: false }],
    ['/v2/users/update', { ...at, users: [{ userId: 'ann' }] }],
    ['/v2/users/delete', { ...at, userIds: ['ann'] }],
    ['/v2/organizations/usergroups/get', at],
    ['/v1/organizations/usergroups/users/add', { ...at, organizationUserGroupId: 'g', userIds: ['x'] }],
    ['/v2/auth/permissions/get', { ...at, userIds: ['ann'] }],
    [
      '/v2/auth/permissions/add',
      { user: { userId: 'ann' }, permissions: { resources }, createMissing: false },
    ],
    ['/v2/auth/permissions/remove', { userId: 'ann', permissions: { resources } }],
  ] as const)
    expect(errorOf(await server.post(path, data, headers))).toEqual(['NOT_FOUND'])
  expect(await get({ userIds: ['ann'] })).toMatchObject([{ userId: 'ann', accessRole: 'editor' }])
})

it.each([
  ['/v2/users/add', { users: Array.from({ length: 501 }, (_, n) => ({ userId: `u${n}` })) }, '/data/users'],
  ['/v2/users/add', { users: [{ name: 'Ann' }] }, '/data/users/0/userId'],
  ['/v2/users/add', { users: [{ userId: 'a\nb' }] }, '/data/users/0/userId'],
  ['/v2/users/add', { users: [{ userId: 'a', accessRole: 'owner' }] }, '/data/users/0/accessRole'],
  ['/v2/users/add', { users: [{ userId: 'a', metadata: [] }] }, '/data/users/0/metadata'],
  ['/v2/users/update', { users: [{ userId: '..' }] }, '/data/users/0/userId'],
  ['/v2/users/delete', { userIds: ['\u0000'] }, '/data/userIds/0'],
  ['/v2/users/get', { organizationId: '' }, '/data/organizationId'],
])('[USER-15] rejects %s %j with INVALID_ARGUMENT', async (path, data, place) => {
  expect(errorOf(await server.post(path, { organizationId: 'acme', ...data }))).toEqual([
    'INVALID_ARGUMENT',
    place,
  ])
})
