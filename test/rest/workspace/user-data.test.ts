import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { keys, organizationPart } from '../../../src/core/directory/organizations/organization-keys.ts'
import { deletedUserId } from '../../../src/core/model/deleted-user.ts'
import { scopeOf } from '../../support/data/directory.ts'
import { type Datum, fillOrganization, userDataOf, zoe, zoeTexts } from '../../support/data/user-data.ts'
import { errorOf, type PeopleServer, startPeopleServer } from '../../support/servers/acme-server.ts'
import { dataOf, startTestServer } from '../../support/servers/server.ts'
import { keysHolding, notAudited } from '../../support/stores/stored-keys.ts'
import { turnsDuring } from '../../support/time/clock.ts'
import { times } from '../../support/time/full-run.ts'

let server: PeopleServer
let data: ReturnType<typeof userDataOf>
beforeAll(async () => {
  server = await startPeopleServer()
  data = userDataOf(server)
})
afterAll(() => server.stop())

const post = async (path: string, body: object) => dataOf(await server.post(path, body))
const kinds = (found: readonly Datum[]) => found.map(({ kind }) => kind).toSorted()
const bob = { userId: 'bob', name: 'Bob' }
const idsOf = (found: readonly Datum[], kind: string) =>
  found.filter((each) => each.kind === kind).map((each) => each.data.id)

/** The entries of Zoe in an organization that `fillOrganization` has filled. */
const full = [
  ...Array.from({ length: 12 }, () => 'activity'),

  ...Array.from({ length: 4 }, () => 'comment'),
  'grant',
  'grant',
  'judgment',
  'judgment',
  'membership',
  'notification',
  'notification',
  'notification',
  'notificationConfig',
  'notificationConfig',
  'notificationMark',
  'presence',
  'user',
  'version',
]

it('[DATA-1] returns all stored data of a user, and no data of other users', async () => {
  await fillOrganization(post, 'get-1')
  const found = await data.all({ organizationId: 'get-1' })
  expect(kinds(found)).toEqual(full)
  expect(new Set(found.map(({ organizationId }) => organizationId))).toEqual(new Set(['get-1']))
  expect(found.filter(({ documentId }) => documentId === 'd1').map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['presence', 'grant', 'activity', 'notification', 'notificationConfig']),
  )
  expect(idsOf(found, 'notification').toSorted()).toEqual(['alone', 'both', 'named'])
  expect(idsOf(found, 'activity')).toEqual(expect.arrayContaining(['by', 'about', 'user']))
  expect(idsOf(found, 'activity')).not.toContain('not')
  expect(found).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: 'user', data: expect.objectContaining(zoe) }),
      expect.objectContaining({
        kind: 'grant',
        data: { type: 'document', id: 'd1', accessRole: 'viewer', expiresAt: null },
      }),
      expect.objectContaining({ kind: 'membership', data: { groupId: 'g' } }),
      expect.objectContaining({
        kind: 'notificationMark',
        data: { notificationId: 'all', read: true, gone: false },
      }),
    ]),
  )
  const annotations = found.filter(({ kind }) => kind === 'comment').map((each) => each.data)
  expect(annotations).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ annotationId: 'thread', createdBy: zoe, assignedTo: bob }),
      expect.objectContaining({ annotationId: 'other', createdBy: bob }),
      expect.objectContaining({ annotationId: 'thread', commentId: 'own', from: zoe, text: 'Mine' }),
      expect.objectContaining({
        commentId: 'answer',
        from: bob,
        reactions: [expect.objectContaining({ user: zoe })],
      }),
    ]),
  )
  const judged = found.filter(({ kind }) => kind === 'judgment').map((each) => each.data)
  expect(judged).toHaveLength(2)
  // Entries of the same time may have any order.
  expect(judged).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ query: 'Refund', decision: 'approve', reviewerId: zoe.userId }),
      expect.objectContaining({ query: 'Mine', decision: 'approve', reviewerId: zoe.userId }),
    ]),
  )
  expect(JSON.stringify(found.filter(({ kind }) => kind === 'notification'))).not.toContain(
    '{"userId":"bob","name":"Bob"},{',
  )
  await fillOrganization(post, 'get-1b')
  const both = (await data.all()).filter(({ organizationId }) => organizationId?.startsWith('get-1'))
  expect(kinds(both)).toEqual([...full, ...full].toSorted())
  expect(await data.all({ userId: 'nobody' })).toEqual([])
})

it('[DATA-14] lists the data outside organizations first, then the data of one organization after the other, each in the same order', async () => {
  const inOrganization =
    'grant membership user comment activity version notification notificationMark notificationConfig'.split(
      ' ',
    )
  await fillOrganization(post, 'order-14')
  await fillOrganization(post, 'order-14b')
  const found = (await data.all({ pageSize: 5 })).map(({ kind, organizationId }) =>
    inOrganization.includes(kind) ? `${organizationId} ${kind}` : kind,
  )
  const order = [...new Set(found)].filter((each) => !each.includes(' ') || each.startsWith('order-14'))
  const of = (organizationId: string) => inOrganization.map((kind) => `${organizationId} ${kind}`)
  expect(order).toEqual(['presence', 'judgment', ...of('order-14'), ...of('order-14b')])
})

it('[DATA-2] returns each entry once in pages of any size while other entries are added and deleted', async () => {
  await fillOrganization(post, 'page-2')
  const at = { organizationId: 'page-2' }
  const text = (each: Datum): string => JSON.stringify(each)
  const all = (await data.all(at)).map(text)
  for (const pageSize of times([1, 7], [1, 2, 3, 7])) {
    let round = 0
    const found = await data.all({ ...at, pageSize }, async () => {
      round += 1
      const id = `extra-${pageSize}-${round}`
      const activity = { id, featureType: 'comment', actionType: 'comment.add', actionUser: zoe }
      await post('/v2/activities/add', { ...at, documentId: 'd1', activities: [activity] })
      if (round % 2 === 0)
        await post('/v2/activities/delete', { ...at, documentId: 'd1', activities: [{ id }] })
    })
    const known = found.map(text).filter((each) => all.includes(each))
    expect(known.toSorted()).toEqual(all.toSorted())
    expect(new Set(found.map(text)).size).toBe(found.length)
  }
  const { pageToken = '' } = await data.page({ ...at, pageSize: 1 })
  expect(Buffer.from(pageToken, 'base64url').toString('latin1')).not.toContain(zoe.userId)
  for (const other of [{ ...at, userId: 'bob' }, {}])
    expect(
      errorOf(await server.post('/v2/users/data/get', { userId: zoe.userId, ...other, pageToken })),
    ).toEqual(['INVALID_ARGUMENT'])
})

it('[DATA-3] removes all data of an erased user from the store, except the id in the record of revoked tokens and in the audit log', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'weft-data-'))
  try {
    const own = await startTestServer({ engine: 'level', dataDir: directory })
    const calls = userDataOf(own)
    const call = async (path: string, body: object) => dataOf(await own.post(path, body))
    await fillOrganization(call, 'one')
    await fillOrganization(call, 'two')
    const { status, removed } = await calls.erase()
    expect({ status, removed }).toEqual({
      status: 'done',
      removed: {
        presence: 2,
        grants: 4,
        memberships: 2,
        users: 2,
        comments: 8,
        events: 0,
        activities: 24,
        judgments: 4,
        streams: 0,
        changes: 0,
        branches: 0,
        visits: 0,
        versions: 2,
        notifications: 8,
        notificationMarks: 2,
        notificationConfigs: 4,
      },
    })
    expect(await calls.all()).toEqual([])
    expect(
      dataOf(await own.post('/v2/presence/get', { organizationId: 'one', documentId: 'd1' })),
    ).toMatchObject([{ userId: 'bob' }])
    await own.stop()
    const found = await keysHolding(directory, zoeTexts)
    expect(notAudited(found)).toEqual([expect.stringContaining('revocations')])
    // The audit log has the id of the user, and nothing else.
    expect(found.length).toBeGreaterThan(1)
    expect(await keysHolding(directory, [zoe.name, zoe.email])).toEqual([])
    // Checks that the search finds stored text.
    expect((await keysHolding(directory, ['bob'])).length).toBeGreaterThan(10)
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 20 })
  }
})

it('[DATA-7] erases the user in one organization, and not in other organizations or for other API keys', async () => {
  await fillOrganization(post, 'one-7')
  await fillOrganization(post, 'two-7')
  const left = kinds(await data.all({ organizationId: 'two-7' }))
  expect((await data.erase({ organizationId: 'one-7' })).status).toBe('done')
  expect(await data.all({ organizationId: 'one-7' })).toEqual([])
  expect(kinds(await data.all({ organizationId: 'two-7' }))).toEqual(left)

  const { directory } = server
  const foreign = scopeOf({ ...server.credentials, apiKey: 'foreign' }, 'foreign-7')
  await directory.organizations.ensure(foreign)
  await directory.users.add(foreign, { type: 'organization', id: 'foreign-7' }, [zoe])
  await data.erase()
  expect(
    await directory.users.find(foreign, { type: 'organization', id: 'foreign-7' }, [zoe.userId]),
  ).toHaveLength(1)

  for (const path of ['/v2/users/data/get', '/v2/users/data/delete']) {
    for (const organizationId of ['foreign-7', 'none-7'])
      expect(errorOf(await server.post(path, { userId: 'ann', organizationId }))).toEqual(['NOT_FOUND'])
    for (const userId of ['', '..', 7, deletedUserId, 'x'.repeat(513)])
      expect(errorOf(await server.post(path, { userId }))).toEqual(['INVALID_ARGUMENT', '/data/userId'])
    expect(errorOf(await server.post(path, {}))).toEqual(['INVALID_ARGUMENT', '/data/userId'])
  }
})

it('[DATA-8] an erasure removes a limited part of the data in each commit, and handles other events in between', async () => {
  const { directory, engine } = server
  const scope = scopeOf(server.credentials, 'many-8')
  await fillOrganization(post, 'many-8')
  for (let at = 0; at < 2_000; at += 500) {
    const activities = Array.from({ length: 500 }, (_, index) => ({
      id: `many-${at + index}`,
      featureType: 'comment' as const,
      actionType: 'comment.add',
      actionUser: zoe,
      changes: { users: [zoe, { userId: 'bob' }] },
    }))
    await directory.activities.add(scope, 'd1', activities)
  }
  const sizes: number[] = []
  const { kv } = engine
  const commit = kv.commit.bind(kv)
  kv.commit = (part, change) => {
    sizes.push((change.puts?.length ?? 0) + (change.dels?.length ?? 0))
    return commit(part, change)
  }
  try {
    const turns = await turnsDuring(async () => {
      const { removed } = await data.erase({ organizationId: 'many-8' })
      expect(removed.activities).toBe(2_012)
    })
    expect(turns).toBeGreaterThan(sizes.length)
  } finally {
    kv.commit = commit
  }
  expect(Math.max(...sizes)).toBeLessThan(3_000)
  expect(sizes.length).toBeGreaterThan(20)
})

it('[DATA-9] a repeated erasure also erases data that was added later, and adds it to the number of erased entries', async () => {
  await fillOrganization(post, 'again-9')
  const at = { organizationId: 'again-9' }
  const first = await data.erase(at)
  const second = await data.erase(at)
  expect(second.removed).toEqual(first.removed)
  await post('/v2/users/add', { ...at, users: [zoe] })
  const third = await data.erase(at)
  expect(third.removed.users).toBe((first.removed.users ?? 0) + 1)
  expect(third.startedAt).toBe(first.startedAt)
  server.clock.advance(31 * 86_400_000)
  const { removed, startedAt } = await data.erase(at)
  expect(Object.values(removed).every((count) => count === 0)).toBe(true)
  expect(startedAt).toBe(server.clock.now())
})

it('[DATA-10] rejects an entry with more than 100 users', async () => {
  const at = { organizationId: 'names-10', documentId: 'd1' }
  await fillOrganization(post, 'names-10')
  const users = (count: number) => Array.from({ length: count }, (_, index) => ({ userId: `u${index}` }))
  const base = { featureType: 'comment', actionType: 'comment.add', actionUser: { userId: 'ann' } }
  const activities = [100, 101].map((count) => ({
    ...base,
    id: `n-${count}`,
    changes: { users: users(count) },
  }))
  expect(await post('/v2/activities/add', { ...at, activities })).toMatchObject({
    'n-100': { success: true },
    'n-101': { success: false, message: expect.stringContaining('100 users') },
  })
  const notification = {
    ...at,
    actionUser: { userId: 'u0' },
    displayHeadlineMessageTemplate: 'x',
    displayBodyMessage: 'y',
    notifyUsers: [],
  }
  const add = (notificationId: string, count: number) =>
    server.post('/v1/notifications/add', {
      ...notification,
      notificationId,
      notificationSourceData: { users: users(count) },
    })
  expect((await add('few', 100)).status).toBe(200)
  expect(errorOf(await add('many', 101))).toEqual(['INVALID_ARGUMENT'])
  const annotations = [100, 101].map((count) => ({
    annotationId: `a-${count}`,
    location: { id: 'page', users: users(count - 1) },
    suggestion: { content: { userId: 'u-last' } },
  }))
  const acting = { ...at, actionUser: { userId: 'ann' } }
  const refused = { success: false, message: expect.stringContaining('100 users') }
  expect(await post('/v2/commentannotations/add', { ...acting, annotations })).toMatchObject({
    'a-100': { success: true },
    'a-101': refused,
  })
  const content = [...users(99), { userId: 'u-one' }, { userId: 'u-more' }]
  expect(
    await post('/v2/commentannotations/update', {
      ...acting,
      annotations: [{ annotationId: 'a-100', suggestion: { content } }],
    }),
  ).toMatchObject({ 'a-100': refused })
  const change = { id: 'few', notificationSourceData: { users: users(101) } }
  expect(
    await post('/v2/notifications/update', { organizationId: 'names-10', notifications: [change] }),
  ).toMatchObject({ few: { success: false } })
})

it('[DATA-11] deletes the records of erasures with their organization, and does not wait for an organization that is being deleted', async () => {
  await fillOrganization(post, 'gone-11')
  const scope = scopeOf(server.credentials, 'gone-11')
  const { kv } = server.engine
  const part = organizationPart(scope)
  await data.erase({ organizationId: 'gone-11' })
  expect((await kv.scan(part, { prefix: ['erased'], limit: 10 })).length).toBe(1)
  await post('/v2/organizations/delete', { organizationIds: ['gone-11'] })
  expect(await kv.scan(part, { limit: 10 })).toEqual([])

  await fillOrganization(post, 'going-11')
  await server.directory.store.change(scopeOf(server.credentials, 'going-11'), async (transaction) => {
    const record = await transaction.get(keys.organization)
    transaction.put(keys.organization, { ...record, deleting: true })
  })
  const going = organizationPart(scopeOf(server.credentials, 'going-11'))
  const before = await kv.scan(going, { limit: 1_000 })
  expect((await data.erase()).status).toBe('done')
  expect(await kv.scan(going, { limit: 1_000 })).toEqual(before)
})
