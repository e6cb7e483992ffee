import { afterAll, beforeAll, expect, it } from 'vitest'
import { RawClient } from '../../support/clients/clients.ts'
import { scopeOf } from '../../support/data/directory.ts'
import { errorOf, type PeopleServer, startPeopleServer } from '../../support/servers/acme-server.ts'

interface ResourceReport {
  reason?: object
}

interface Report {
  organization: Record<string, ResourceReport>
  folders: Record<string, ResourceReport>
  documents: Record<string, ResourceReport>
}

let server: PeopleServer
beforeAll(async () => {
  server = await startPeopleServer()
  await server.directory.documents.update(scopeOf(server.credentials, 'acme'), [
    { documentId: 'd2', accessType: 'restricted' },
    { documentId: 'd3', accessType: 'organizationPrivate' },
  ])
})
afterAll(() => server.stop())

const d1 = { type: 'document', id: 'd1', organizationId: 'acme' }
const d2 = { ...d1, id: 'd2' }
const f1 = { type: 'folder', id: 'f1', organizationId: 'acme' }
const acme = { type: 'organization', id: 'acme' }
const permit = (userId: string, ...resources: object[]) =>
  server.post('/v2/auth/permissions/add', { user: { userId }, permissions: { resources } })
const revoke = (userId: string, ...resources: object[]) =>
  server.post('/v2/auth/permissions/remove', { userId, permissions: { resources } })
const ask = (data: object) => server.post('/v2/auth/permissions/get', { organizationId: 'acme', ...data })
const everything = { folderIds: ['f1', 'f2'], documentIds: ['d1', 'd2', 'd3'] }
const reportOn = async (userId: string): Promise<Report> => {
  const reports = await server.call<Record<string, Report>>('/v2/auth/permissions/get', {
    userIds: [userId],
    ...everything,
  })
  return reports[userId] as Report
}
/** The permissions of a user without the reasons. */
const rightsOf = async (userId: string): Promise<Report> => {
  const report = JSON.stringify(await reportOn(userId), (name, value: unknown) =>
    name === 'reason' ? undefined : value,
  )
  return JSON.parse(report) as Report
}
const inSeconds = (seconds: number) => server.clock.now() / 1000 + seconds
const denied = { error: 'permission denied', errorCode: 'permission_denied' }

it('[PERM-1] grants several resources in one call, and returns only the message', async () => {
  const { status, body } = await permit('ann', { ...d1, accessRole: 'viewer' }, d2, f1, acme)
  const result = { status: 'success', message: '4 permissions granted.', created: {} }
  expect([status, body]).toEqual([200, { result }])
  expect(await rightsOf('ann')).toEqual({
    organization: { acme: { accessRole: 'editor' } },
    folders: {
      f1: { accessRole: 'editor', accessType: 'public' },
      f2: { accessRole: 'editor', accessType: 'public' },
    },
    documents: {
      d1: { accessRole: 'viewer', accessType: 'public' },
      d2: { accessRole: 'editor', accessType: 'restricted' },
      d3: { accessRole: 'editor', accessType: 'organizationPrivate' },
    },
  })
})

it('[PERM-1] grants resources to groups in the same way as to users', async () => {
  await server.call('/v1/organizations/usergroups/users/add', {
    organizationUserGroupId: 'crew',
    userIds: ['gus'],
  })
  const group = { organizationUserGroupId: 'crew' }
  const added = await server.post('/v2/auth/permissions/add', { ...group, permissions: { resources: [d2] } })
  expect(added.status).toBe(200)
  expect((await rightsOf('gus')).documents.d2).toMatchObject({ accessRole: 'editor' })
  expect((await rightsOf('gus')).organization.acme).toEqual({ accessRole: 'viewer' })
  await server.post('/v2/auth/permissions/remove', { ...group, permissions: { resources: [d2] } })
  expect((await rightsOf('gus')).documents.d2).toMatchObject(denied)
})

it.each([
  [{ type: 'document', id: 'd1' }, 'organizationId'],
  [{ type: 'folder', id: 'f1' }, 'organizationId'],
  [{ ...acme, organizationId: 'other' }, 'organizationId'],
  [{ ...d1, type: 'editor' }, 'type'],
  [{ ...d1, id: '' }, 'id'],
  [{ ...d1, accessRole: 'owner' }, 'accessRole'],
  [{ ...d1, expiresAt: -1 }, 'expiresAt'],
  [{ ...d1, expiresAt: Date.now() + 3_600_000 }, 'expiresAt'],
  [{ ...d1, expiresAt: 'tomorrow' }, 'expiresAt'],
])('[PERM-2] rejects the grant %j', async (resource, member) => {
  expect(errorOf(await permit('paul', f1, resource))).toEqual([
    'INVALID_ARGUMENT',
    `/data/permissions/resources/1/${member}`,
  ])
  expect(await server.call('/v2/users/get', { userIds: ['paul'] })).toEqual([])
})

it('[COMPAT-6] a grant with an expiry in the past removes the access; if a call lists a resource twice, only the last entry applies', async () => {
  const roleOf = async () => (await rightsOf('pia')).documents.d2
  await permit('pia', { ...d2, accessRole: 'viewer' }, d1, d2)
  expect(await roleOf()).toMatchObject({ accessRole: 'editor' })
  for (const expiresAt of [inSeconds(0), 1, 0]) {
    expect((await permit('pia', d2, { ...d2, expiresAt })).status).toBe(200)
    expect(await roleOf()).toMatchObject(denied)
    await permit('pia', { ...d2, expiresAt }, d2)
    expect(await roleOf()).toMatchObject({ accessRole: 'editor' })
  }
})

it('[PERM-3] without createMissing, when a resource is missing, rejects the call with NOT_FOUND, names the resource, and grants nothing', async () => {
  await server.directory.organizations.ensure(scopeOf(server.credentials, 'second'))
  const second = { type: 'organization', id: 'second' }
  for (const missing of [
    { type: 'document', id: 'none', organizationId: 'acme' },
    { type: 'folder', id: 'root', organizationId: 'acme' },
    { type: 'organization', id: 'none', organizationId: 'none' },
    { type: 'document', id: 'd1', organizationId: 'second' },
  ]) {
    const answer = await server.post('/v2/auth/permissions/add', {
      user: { userId: 'nell' },
      permissions: { resources: [second, f1, missing] },
      createMissing: false,
    })
    expect([answer.status, answer.body.error]).toMatchObject([
      404,
      { status: 'NOT_FOUND', details: { resources: [missing] } },
    ])
  }
  const group = { organizationUserGroupId: 'nobody', permissions: { resources: [f1] } }
  expect(errorOf(await server.post('/v2/auth/permissions/add', group))).toEqual(['NOT_FOUND'])
  for (const organizationId of ['acme', 'second'])
    expect(await server.call('/v2/users/get', { organizationId, userIds: ['nell'] })).toEqual([])
})

it('[PERM-4] requires either a user or a group, and not both', async () => {
  const permissions = { resources: [d1] }
  const organizationUserGroupId = 'crew'
  for (const [path, user, place] of [
    ['/v2/auth/permissions/add', { user: { userId: 'ann' } }, '/data/user'],
    ['/v2/auth/permissions/remove', { userId: 'ann' }, '/data/userId'],
  ] as const) {
    expect(errorOf(await server.post(path, { permissions }))).toEqual(['INVALID_ARGUMENT', place])
    expect(errorOf(await server.post(path, { ...user, organizationUserGroupId, permissions }))).toEqual([
      'INVALID_ARGUMENT',
      '/data/organizationUserGroupId',
    ])
  }
  expect(errorOf(await server.post('/v2/auth/permissions/add', { user: {}, permissions }))).toEqual([
    'INVALID_ARGUMENT',
    '/data/user/userId',
  ])
})

it('[PERM-5] when a grant is replaced, replaces its expiry too', async () => {
  await server.call('/v2/users/add', { documentId: 'd2', users: [{ userId: 'rob' }] })
  await permit('rob', { ...d2, accessRole: 'viewer', expiresAt: inSeconds(60) })
  expect((await rightsOf('rob')).documents.d2).toMatchObject({
    accessRole: 'viewer',
    expiresAt: inSeconds(60),
  })
  await permit('rob', d2)
  expect((await rightsOf('rob')).documents.d2).toEqual({ accessRole: 'editor', accessType: 'restricted' })
})

it('[PERM-6] removes only the grants that the call lists', async () => {
  await permit('tom', d1, d2, f1)
  const { status, body } = await revoke('tom', d2, { ...d1, id: 'none' }, { ...f1, id: 'f2' })
  expect([status, body]).toEqual([200, { result: { status: 'success', message: 'Permissions removed.' } }])
  expect((await rightsOf('tom')).documents.d2).toMatchObject(denied)
  const users = await server.call('/v2/users/get', { folderId: 'f1', userIds: ['tom'] })
  expect(users).toMatchObject([{ userId: 'tom', accessRole: 'editor' }])
  expect((await revoke('tom', d2)).status).toBe(200)
  expect(errorOf(await revoke('tom', { type: 'organization', id: 'none' }))).toEqual(['NOT_FOUND'])
  expect(errorOf(await revoke('tom', { type: 'folder', id: 'f1' }))[1]).toContain('organizationId')
})

it('[PERM-7] returns inherited roles with their expiry', async () => {
  await server.directory.documents.move(scopeOf(server.credentials, 'acme'), ['d2'], 'f2')
  await permit('ida', { ...f1, id: 'f2', accessRole: 'viewer', expiresAt: inSeconds(60) })
  const { organization, folders, documents } = await rightsOf('ida')
  const expiresAt = inSeconds(60)
  expect(folders.f2).toEqual({ accessRole: 'viewer', accessType: 'public', expiresAt })
  expect(documents.d2).toEqual({ accessRole: 'viewer', accessType: 'restricted', expiresAt })
  expect(documents.d3).toEqual({ accessRole: 'viewer', accessType: 'organizationPrivate', expiresAt })
  expect(organization.acme).toEqual({ accessRole: 'viewer', expiresAt })
})

it('[PERM-8] returns permission_denied for a user without a role, even if the user is unknown', async () => {
  expect(await rightsOf('stranger')).toEqual({
    organization: { acme: denied },
    folders: {
      f1: { accessRole: 'editor', accessType: 'public' },
      f2: { accessRole: 'editor', accessType: 'public' },
    },
    documents: {
      d1: { accessRole: 'editor', accessType: 'public' },
      d2: { accessType: 'restricted', ...denied },
      d3: { accessType: 'organizationPrivate', ...denied },
    },
  })
})

it('[PERM-20] states why a user has access or has none', async () => {
  const scope = scopeOf(server.credentials, 'acme')
  const folder = { folderId: 'why', parentFolderId: 'f1' }
  await server.directory.folders.add(scope, [folder])
  await server.directory.folders.update(scope, [{ folderId: 'why', accessType: 'restricted' }])
  await server.directory.documents.add(scope, [{ documentId: 'y1', folderId: 'why' }], {
    createFolder: false,
  })
  await server.call('/v1/organizations/usergroups/users/add', {
    organizationUserGroupId: 'askers',
    userIds: ['gwen'],
  })
  await server.post('/v2/auth/permissions/add', {
    organizationUserGroupId: 'askers',
    permissions: { resources: [{ ...f1, id: 'why' }] },
  })
  await permit('uma', { ...d1, id: 'y1' })
  await permit('mia', { ...f1, id: 'f2' })
  const reasonOn = async (userId: string, type: 'organization' | 'documents', id: string) => {
    const data = { userIds: [userId], documentIds: ['d1', 'd3', 'y1'] }
    const reports = await server.call<Record<string, Report>>('/v2/auth/permissions/get', data)
    return reports[userId]?.[type][id]?.reason
  }
  const onDocument = { resourceType: 'document', resourceId: 'y1' }
  const onFolder = { resourceType: 'folder', resourceId: 'why' }
  expect(await reasonOn('uma', 'documents', 'y1')).toEqual({ source: 'user', ...onDocument })
  expect(await reasonOn('gwen', 'documents', 'y1')).toEqual({
    source: 'group',
    ...onFolder,
    groupId: 'askers',
  })
  expect(await reasonOn('zoe', 'documents', 'y1')).toEqual({ source: 'accessType', ...onFolder })
  expect(await reasonOn('zoe', 'documents', 'd1')).toEqual({ source: 'accessType' })
  const own = { resourceType: 'document', resourceId: 'd3' }
  expect(await reasonOn('zoe', 'documents', 'd3')).toEqual({ source: 'accessType', ...own })
  expect(await reasonOn('mia', 'documents', 'd3')).toEqual({ source: 'membership' })
  expect(await reasonOn('mia', 'organization', 'acme')).toEqual({ source: 'membership' })
  expect(await reasonOn('zoe', 'organization', 'acme')).toEqual({ source: 'membership' })
})

it('[PERM-3] without createMissing, when the organization of a resource is unknown, rejects the call with the code and message for an unknown organization', async () => {
  const resources = [{ type: 'document', id: 'd1', organizationId: 'nowhere' }]
  const given = { user: { userId: 'nell' }, permissions: { resources }, createMissing: false }
  const { status, body } = await server.post('/v2/auth/permissions/add', given)
  expect([status, body.error?.details?.code]).toEqual([404, 'organization/not-found'])
  expect(body.error?.message).toBe(
    'the organization "nowhere" does not exist; add it with /v2/organizations/add',
  )
})

it('[PERM-9] when resources are missing, returns NOT_FOUND with the results for all users and resources in the details', async () => {
  const missing = { error: 'does not exist', errorCode: 'does_not_exist' }
  const answer = await ask({
    userIds: ['stranger', '__proto__'],
    folderIds: ['nope'],
    documentIds: ['d2', 'no'],
  })
  const tree = {
    organization: { acme: denied },
    folders: { nope: missing },
    documents: { d2: { accessType: 'restricted', ...denied }, no: missing },
  }
  expect([answer.status, answer.body.error?.status]).toEqual([404, 'NOT_FOUND'])
  expect(Object.entries(answer.body.error?.details ?? {})).toMatchObject([
    ['stranger', tree],
    ['__proto__', tree],
    ['code', 'auth/resource-not-found'],
  ])
  const nowhere = await ask({ organizationId: 'none', userIds: ['ann'], documentIds: ['d1'] })
  expect(nowhere.body.error).toMatchObject({
    status: 'NOT_FOUND',
    details: { ann: { organization: { none: missing }, folders: {}, documents: { d1: missing } } },
  })
  expect((await ask({ userIds: ['ann'], folderIds: ['root'] })).status).toBe(404)
})

it('[PERM-10] rejects more than 5,000 combinations of users and resources', async () => {
  const userIds = Array.from({ length: 50 }, (_, index) => `u${index}`)
  const documentIds = Array.from({ length: 100 }, (_, index) => `x${index}`)
  expect((await ask({ userIds, documentIds: documentIds.slice(1) })).status).toBe(404)
  expect(errorOf(await ask({ userIds, documentIds }))).toEqual(['INVALID_ARGUMENT'])
  expect(
    errorOf(await ask({ userIds: documentIds.flatMap((id) => [1, 2, 3, 4, 5, 6].map((n) => id + n)) })),
  ).toEqual(['INVALID_ARGUMENT', '/data/userIds'])
})

it('[PERM-11] does not return an expired grant, and removes it when other grants are added', async () => {
  await permit('eve', { ...d2, expiresAt: inSeconds(10) }, { ...f1, expiresAt: inSeconds(10) })
  const usersOf = (data: object) => server.call<object[]>('/v2/users/get', { userIds: ['eve'], ...data })
  expect((await usersOf({ documentId: 'd2' })).length).toBe(1)
  server.clock.advance(10_000)
  expect((await rightsOf('eve')).documents.d2).toMatchObject(denied)
  expect((await rightsOf('eve')).organization.acme).toEqual(denied)
  expect(await usersOf({ documentId: 'd2' })).toEqual([])
  const update = { documentId: 'd2', users: [{ userId: 'eve' }] }
  expect(await server.call('/v2/users/update', update)).toMatchObject({ eve: { success: false } })
  await permit('eve', d1)
  const reader = server.directory.store.read(scopeOf(server.credentials, 'acme'))
  const left = await reader.scan({ prefix: ['grantsOf', 'user', 'eve'], limit: 10 })
  expect(left.map(({ key }) => key.slice(-2))).toEqual([['document', 'd1']])
})

it('[PERM-12] closes the connection of a user when the grant of the user is removed', async () => {
  await permit('sam', d2)
  const token = await server.token('sam')
  const connect = () => RawClient.connect(`${server.wsUrl}/sync/acme/d2/main?token=${token}`)
  const client = await connect()
  await client.roundTrip()
  await revoke('sam', d2)
  expect(await client.closed).toMatchObject({ code: 4403 })
  expect(await (await connect()).closed).toMatchObject({ code: 4404 })
  await server.call('/v1/organizations/usergroups/users/add', {
    organizationUserGroupId: 'open',
    userIds: ['sam'],
  })
  const group = { organizationUserGroupId: 'open', permissions: { resources: [d2] } }
  await server.post('/v2/auth/permissions/add', group)
  const again = await connect()
  await again.roundTrip()
  await server.call('/v2/organizations/usergroups/delete', { groupIds: ['open'] })
  expect(await again.closed).toMatchObject({ code: 4403 })
})
