import { afterAll, beforeAll, expect, it } from 'vitest'
import { groupsOfUserMax } from '../../../src/core/directory/services/group-service.ts'
import { scopeOf } from '../../support/data/directory.ts'
import {
  errorOf,
  type ItemResults,
  oddIds,
  type PeopleServer,
  startPeopleServer,
} from '../../support/servers/acme-server.ts'
import type { Answer } from '../../support/servers/server.ts'

interface GroupRow {
  groupId: string
  groupName: string
  userIds?: string[]
  accessRole?: string
  expiresAt?: number
  grants?: object[]
}

let server: PeopleServer
beforeAll(async () => {
  server = await startPeopleServer()
})
afterAll(() => server.stop())

const paths = {
  add: '/v1/organizations/usergroups/add',
  get: '/v2/organizations/usergroups/get',
  delete: '/v2/organizations/usergroups/delete',
  addUsers: '/v1/organizations/usergroups/users/add',
  deleteUsers: '/v1/organizations/usergroups/users/delete',
}
const add = (organizationUserGroups: object[], at: object = {}) =>
  server.call<ItemResults>(paths.add, { organizationUserGroups, ...at })
const get = (data: object = {}) => server.call<GroupRow[]>(paths.get, data)
const addUsers = (groupId: string, userIds: readonly string[], at: object = {}) =>
  server.call<ItemResults>(paths.addUsers, { organizationUserGroupId: groupId, userIds, ...at })
const usersOf = async (groupId: string, at: object = {}) =>
  (await get({ organizationUserGroupId: groupId, ...at }))[0]?.userIds

const organization = async (organizationId: string): Promise<{ organizationId: string }> => {
  await server.directory.organizations.ensure(scopeOf(server.credentials, organizationId))
  return { organizationId }
}

const roleOn = async (documentId: string, userId: string) => {
  const report = await server.call<Record<string, { documents: Record<string, { accessRole?: string }> }>>(
    '/v2/auth/permissions/get',
    { userIds: [userId], documentIds: [documentId] },
  )
  return report[userId]?.documents[documentId]?.accessRole ?? null
}

const permitGroup = (groupId: string, resource: object): Promise<Answer> =>
  server.post('/v2/auth/permissions/add', {
    organizationUserGroupId: groupId,
    permissions: { resources: [{ organizationId: 'acme', ...resource }] },
  })

it('[GRP-1] names a new group by the given name, or else by its id, and renames an existing group', async () => {
  const at = await organization('groups-1')
  const results = await add(
    [{ groupId: 'design', groupName: 'Design' }, { groupId: 'sales' }, { groupId: 'x' }],
    at,
  )
  expect(results.design).toEqual({ success: true, id: 'design', message: 'added' })
  server.clock.advance(1000)
  await add([{ groupId: 'design' }, { groupId: 'x', groupName: 'Why' }], at)
  const now = server.clock.now()
  expect(await get(at)).toEqual([
    { groupId: 'design', groupName: 'Design', createdAt: now - 1000, lastUpdated: now - 1000 },
    { groupId: 'sales', groupName: 'sales', createdAt: now - 1000, lastUpdated: now - 1000 },
    { groupId: 'x', groupName: 'Why', createdAt: now - 1000, lastUpdated: now },
  ])
})

it('[GRP-2] adds users to a group, creates a missing group and unknown users, and returns the results by user id', async () => {
  const at = await organization('groups-2')
  const results = await addUsers('crew', ['ann', 'bob', 'ann'], at)
  expect(results).toEqual({
    ann: { success: true, organizationUserGroupId: 'crew', message: 'added', groupCreated: true },
    bob: { success: true, organizationUserGroupId: 'crew', message: 'added', groupCreated: true },
  })
  expect((await addUsers('crew', ['ann'], at)).ann).toEqual({
    success: true,
    organizationUserGroupId: 'crew',
    message: 'was in the group already',
  })
  expect(await get(at)).toMatchObject([{ groupId: 'crew', groupName: 'crew' }])
  expect(await usersOf('crew', at)).toEqual(['ann', 'bob'])
  expect(await server.call('/v2/users/get', at)).toMatchObject([
    { userId: 'ann', name: '' },
    { userId: 'bob', name: '' },
  ])
  for (const [data, place] of [
    [{}, '/data/userIds'],
    [{ userIds: ['a\tb'] }, '/data/userIds/0'],
    [{ userIds: ['ann'], organizationUserGroupId: '' }, '/data/organizationUserGroupId'],
  ] as const)
    expect(
      errorOf(await server.post(paths.addUsers, { ...at, organizationUserGroupId: 'crew', ...data })),
    ).toEqual(['INVALID_ARGUMENT', place])
})

it('[GRP-2] accepts every well-formed id of a group, and returns it unchanged', async () => {
  const at = await organization('groups-odd')
  for (const id of oddIds) {
    expect(Object.keys(await addUsers(id, oddIds, at)).toSorted()).toEqual(oddIds.toSorted())
    expect((await usersOf(id, at))?.toSorted()).toEqual(oddIds.toSorted())
  }
  expect((await get(at)).map(({ groupId }) => groupId).toSorted()).toEqual(oddIds.toSorted())
})

it('[GRP-3] removes the given users, or all users, from a group', async () => {
  const at = await organization('groups-3')
  const ids = Array.from({ length: 700 }, (_, index) => `user-${index}`)
  for (let from = 0; from < ids.length; from += 500) await addUsers('crew', ids.slice(from, from + 500), at)
  const removal = (data: object) =>
    server.post(paths.deleteUsers, { ...at, organizationUserGroupId: 'crew', ...data })
  const named = await removal({ userIds: ['user-0', 'nobody'] })
  expect(named.body.result?.data).toEqual({
    'user-0': { success: true, organizationUserGroupId: 'crew', message: 'removed' },
    nobody: {
      success: false,
      organizationUserGroupId: 'crew',
      message: 'is not in the group',
      details: { code: 'group/user-not-found' },
    },
  })
  const all = await removal({ deleteAll: true })
  expect(Object.keys(all.body.result?.data as object).toSorted()).toEqual(ids.slice(1).toSorted())
  expect(await usersOf('crew', at)).toEqual([])
  expect((await removal({ deleteAll: true })).body.result?.data).toEqual({})
  expect(errorOf(await removal({}))).toEqual(['INVALID_ARGUMENT', '/data/userIds'])
  expect(errorOf(await removal({ deleteAll: false }))).toEqual(['INVALID_ARGUMENT', '/data/userIds'])
  expect(errorOf(await removal({ deleteAll: true, userIds: ['a'] }))).toEqual([
    'INVALID_ARGUMENT',
    '/data/deleteAll',
  ])
})

it('[GRP-4] lists all groups, or the users of one group, in pages, or returns the given groups', async () => {
  const at = await organization('groups-4')
  const ids = ['a', 'b', 'c', 'd', 'e']
  await add(
    ids.map((groupId) => ({ groupId })),
    at,
  )
  await addUsers('c', ids, at)
  const pages = async (data: object, idsOf: (rows: GroupRow[]) => readonly string[]) => {
    const seen: (readonly string[])[] = []
    let pageToken: string | undefined
    do {
      const { body } = await server.post(paths.get, { ...at, ...data, pageSize: 2, pageToken })
      const result = body.result as unknown as { data: GroupRow[]; pageToken?: string }
      seen.push(idsOf(result.data))
      pageToken = result.pageToken
    } while (pageToken !== undefined)
    return seen
  }
  const inTwos = [['a', 'b'], ['c', 'd'], ['e']]
  expect(await pages({}, (rows) => rows.map(({ groupId }) => groupId))).toEqual(inTwos)
  expect(await pages({ organizationUserGroupId: 'c' }, ([row]) => row?.userIds ?? [])).toEqual(inTwos)
  expect(await get({ ...at, groupIds: ['d', 'none', 'a'] })).toMatchObject([
    { groupId: 'd' },
    { groupId: 'a' },
  ])
  const both = { ...at, groupIds: ['a'], organizationUserGroupId: 'a' }
  expect(errorOf(await server.post(paths.get, both))).toEqual(['INVALID_ARGUMENT', '/data/groupIds'])
  const many = { ...at, groupIds: Array.from({ length: 31 }, (_, index) => `g${index}`) }
  expect(errorOf(await server.post(paths.get, many))).toEqual(['INVALID_ARGUMENT', '/data/groupIds'])
})

it('[GRP-10] lists groups with their grants on a resource, or returns one group with all its grants', async () => {
  const at = await organization('groups-10')
  const ids = ['a', 'b', 'c']
  await add(
    ids.map((groupId) => ({ groupId })),
    at,
  )
  const { organizationId } = at
  const documents = ['d1', 'd2', 'd3'].map((documentId) => ({ documentId }))
  await server.post('/v2/organizations/documents/add', { ...at, documents })
  const soon = Math.floor(server.clock.now() / 1000) + 60
  const document = (id: string, more: object = {}) => ({ type: 'document', id, organizationId, ...more })
  await permitGroup('a', document('d1', { accessRole: 'viewer' }))
  await permitGroup('a', { type: 'organization', id: organizationId, organizationId })
  await permitGroup('a', document('d2', { expiresAt: soon }))
  await permitGroup('c', document('d1', { expiresAt: soon }))
  const rows = async (data: object) =>
    (await get({ ...at, ...data })).map(({ groupId, accessRole, expiresAt }) => [
      groupId,
      accessRole,
      expiresAt,
    ])
  expect(await rows({})).toEqual([['a', 'editor'], ['b'], ['c']].map(([id, role]) => [id, role, undefined]))
  const onDocument = [
    ['a', 'viewer', undefined],
    ['c', 'editor', soon],
  ]
  expect(await rows({ documentId: 'd1' })).toEqual(onDocument)
  expect(await rows({ documentId: 'd1', groupIds: ['c', 'b'] })).toEqual(onDocument.slice(1))
  const granted = async (pageSize: number, pageToken?: string) => {
    const asked = { ...at, organizationUserGroupId: 'a', grants: true, pageSize, pageToken }
    const { body } = await server.post(paths.get, asked)
    return body.result as unknown as { data: [GroupRow]; pageToken?: string }
  }
  const all = [
    { type: 'document', id: 'd2', accessRole: 'editor', expiresAt: soon },
    { type: 'document', id: 'd1', accessRole: 'viewer' },
    { type: 'organization', id: organizationId, accessRole: 'editor' },
  ]
  expect((await granted(3)).data).toMatchObject([{ groupId: 'a', groupName: 'a', grants: all }])
  const first = await granted(2)
  expect(first.data[0].grants).toEqual(all.slice(0, 2))
  expect((await granted(2, first.pageToken)).data[0].grants).toEqual(all.slice(2))
  server.clock.advance(61_000)
  expect((await granted(3)).data[0].grants).toEqual(all.slice(1))
  expect(await rows({ documentId: 'd1' })).toEqual(onDocument.slice(0, 1))
  const both = { ...at, organizationUserGroupId: 'a', documentId: 'd1' }
  expect(errorOf(await server.post(paths.get, both))).toEqual(['INVALID_ARGUMENT', '/data/documentId'])
  expect(errorOf(await server.post(paths.get, { ...at, documentId: 'none' }))).toEqual(['NOT_FOUND'])
})

it('[GRP-5] deletes a group completely: a new group with the same id has no users or grants of the former group', async () => {
  const resources = ['d1', 'd2'].map((id) => ({ type: 'document', id }))
  await addUsers('gone', ['gary'])
  const users = Array.from({ length: 300 }, (_, index) => `gone-${index}`)
  await addUsers('gone', users)
  for (const resource of resources) await permitGroup('gone', { ...resource, accessRole: 'viewer' })
  expect(await roleOn('d1', 'gary')).toBe('viewer')
  const results = await server.call<ItemResults>(paths.delete, { groupIds: ['gone', 'nobody', 'gone'] })
  expect([results.gone?.success, results.nobody?.success]).toEqual([true, false])
  expect(await get({ groupIds: ['gone'] })).toEqual([])
  expect(await roleOn('d1', 'gary')).toBe('editor')
  await addUsers('gone', ['gary'])
  expect([await usersOf('gone'), await roleOn('d1', 'gary')]).toEqual([['gary'], 'editor'])
})

it('[GRP-6] applies the grants of a group to a user only while the user is in the group', async () => {
  await add([{ groupId: 'readers' }])
  expect((await permitGroup('readers', { type: 'document', id: 'd3', accessRole: 'viewer' })).status).toBe(
    200,
  )
  expect(await roleOn('d3', 'rita')).toBe('editor')
  await addUsers('readers', ['rita'])
  expect(await roleOn('d3', 'rita')).toBe('viewer')
  await server.call(paths.deleteUsers, { organizationUserGroupId: 'readers', userIds: ['rita'] })
  expect(await roleOn('d3', 'rita')).toBe('editor')
})

it('[GRP-7] limits a user to 200 groups; a call that can add no user creates no group', async () => {
  const at = await organization('groups-7')
  const scope = scopeOf(server.credentials, 'groups-7')
  for (let index = 0; index < groupsOfUserMax; index++)
    await server.directory.groups.addUsers(scope, `group-${index}`, ['busy'])
  expect((await addUsers('none', ['busy'], at)).busy).toMatchObject({ success: false })
  expect(await get({ ...at, groupIds: ['none'] })).toEqual([])
  const results = await addUsers('one-more', ['busy', 'idle'], at)
  expect([results.busy?.success, results.idle?.success]).toEqual([false, true])
  expect((await addUsers('group-0', ['busy'], at)).busy?.success).toBe(true)
  expect(await usersOf('one-more', at)).toEqual(['idle'])
})

it('[GRP-8] returns NOT_FOUND for a missing organization, and for a missing group whose users are listed or removed', async () => {
  const none = { organizationId: 'none' }
  for (const [path, data] of [
    [paths.add, { ...none, organizationUserGroups: [{ groupId: 'g' }] }],
    [paths.get, none],
    [paths.delete, { ...none, groupIds: ['g'] }],
    [paths.addUsers, { ...none, organizationUserGroupId: 'g', userIds: ['ann'] }],
    [paths.deleteUsers, { ...none, organizationUserGroupId: 'g', userIds: ['ann'] }],
    [paths.deleteUsers, { organizationId: 'acme', organizationUserGroupId: 'none', userIds: ['ann'] }],
    [paths.deleteUsers, { organizationId: 'acme', organizationUserGroupId: 'none', deleteAll: true }],
    [paths.get, { organizationId: 'acme', organizationUserGroupId: 'none' }],
  ] as const)
    expect(errorOf(await server.post(path, data))).toEqual(['NOT_FOUND'])
})

it('[GRP-9] when concurrent calls add users to a group, adds all of these users', async () => {
  const at = await organization('groups-9')
  const ids = Array.from({ length: 40 }, (_, index) => `user-${index}`)
  await Promise.all(ids.map((userId) => addUsers('crowd', [userId], at)))
  expect((await usersOf('crowd', at))?.toSorted()).toEqual(ids.toSorted())
})
