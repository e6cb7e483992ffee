import { afterAll, beforeAll, expect, it } from 'vitest'
import { notificationLimits } from '../../../src/capabilities/notifications/limits.ts'
import { NotificationService } from '../../../src/capabilities/notifications/notification-service.ts'
import { mapInSlices } from '../../../src/core/directory/store/batch.ts'
import { TenantStore } from '../../../src/core/directory/tenants/tenant-store.ts'
import {
  allPages,
  type NotificationRow,
  notificationsOf,
  plainNotification as plain,
} from '../../support/data/notifications.ts'
import { errorOf, type PeopleServer, startPeopleServer } from '../../support/servers/acme-server.ts'

let server: PeopleServer
beforeAll(async () => {
  server = await startPeopleServer()
})
afterAll(() => server.stop())

const organization = (organizationId: string, userIds?: readonly string[]) =>
  notificationsOf(server, organizationId, userIds)

it('[NOTE-1] stores a notification as it was added', async () => {
  const { add, get } = await organization('add-1', ['ann'])
  const given = {
    documentId: 'd2',
    actionUser: { userId: 'eve', name: 'Eve', email: 'eve@example.com' },
    displayHeadlineMessageTemplate: '{actionUser} shared {title}',
    displayHeadlineMessageTemplateData: { title: 'Plan', deep: { list: [1, null] } },
    displayBodyMessage: 'Look!',
    notifyUsers: [{ userId: 'ann', name: 'Ann' }, { userId: 'stranger' }],
    notifyAll: false,
    notificationSourceData: { url: 'https://example.com', nested: { a: [true] } },
  }
  expect(await add({ ...given, notificationId: 'my_id-1' })).toEqual({
    success: true,
    message: 'Notification added.',
    notificationId: 'my_id-1',
  })
  const now = server.clock.now()
  expect(await get()).toEqual([
    {
      ...given,
      id: 'my_id-1',
      displayHeadlineMessage: 'Eve shared Plan',
      readByUserIds: [],
      createdAt: now,
      lastUpdated: now,
    },
  ])
  const made = await add()
  expect(made.notificationId).toMatch(/^[A-Za-z0-9_-]{8,}$/)
  expect(await get({ notificationIds: [made.notificationId] })).toMatchObject([
    { id: made.notificationId, notifyAll: true, notificationSourceData: {} },
  ])
})

it('[NOTE-1] adds one notification for a user who is listed twice', async () => {
  const { add, get } = await organization('add-twice')
  await add({
    notifyUsers: [
      { userId: 'ann', name: 'A' },
      { userId: 'ann', name: 'Ann' },
    ],
  })
  expect(await get({ userId: 'ann' })).toMatchObject([{ notifyUsers: [{ userId: 'ann', name: 'Ann' }] }])
  expect((await get())[0]?.notifyUsers).toEqual([{ userId: 'ann', name: 'Ann' }])
})

it('[NOTE-2] accepts only letters, digits, `_` and `-` in the id of a notification', async () => {
  const { add, post, ids } = await organization('ids-2')
  const good = ['a', 'Z9', '_', '-', '__proto__', 'x'.repeat(512)]
  for (const notificationId of good) expect((await add({ notificationId })).success).toBe(true)
  expect((await ids()).toSorted()).toEqual(good.toSorted())
  for (const notificationId of ['', 'a b', 'a/b', 'a.b', 'é', 'a\n', '😀', 'x'.repeat(513)])
    expect(errorOf(await post('/v1/notifications/add', { ...plain, notificationId }))).toEqual([
      'INVALID_ARGUMENT',
      '/data/notificationId',
    ])
})

it('[NOTE-3] adds only one of 50 concurrent notifications with one id, and changes nothing if the id is already in use', async () => {
  const { add, get, stored } = await organization('used-3')
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      add({
        notificationId: 'same',
        displayBodyMessage: `body ${index}`,
        documentId: index % 2 ? 'd1' : 'd2',
        notifyUsers: [{ userId: `user-${index}` }],
      }),
    ),
  )
  const winners = answers.flatMap(({ success }, index) => (success ? [index] : []))
  expect(winners.length).toBe(1)
  const [first] = await get()
  expect(first?.displayBodyMessage).toBe(`body ${winners[0]}`)
  // The record, its state, its places in the lists of organization, document, all users and one user, and the
  // acting user.
  expect((await stored()).length).toBe(7)
  server.clock.advance(1000)
  expect(await add({ notificationId: 'same', documentId: 'd3' })).toMatchObject({ success: false })
  expect(await get()).toEqual([first])
})

it('[NOTE-4] rejects a missing organization or document with NOT_FOUND, unless a flag creates it', async () => {
  const post = (data: object) => server.post('/v1/notifications/add', { ...plain, ...data })
  for (const data of [
    { organizationId: 'note-4' },
    { organizationId: 'note-4', createDocument: true },
    { organizationId: 'acme', documentId: 'note-4' },
    { organizationId: 'acme', documentId: 'note-4', createOrganization: true },
  ])
    expect(errorOf(await post(data))).toEqual(['NOT_FOUND'])
  const lookUp = { organizationIds: ['note-4'] }
  expect(await server.call('/v2/organizations/get', lookUp)).toEqual([])
  const flags = { createOrganization: true, createDocument: true }
  expect((await post({ organizationId: 'note-4', documentId: 'new', ...flags })).status).toBe(200)
  expect((await post({ organizationId: 'note-4', documentId: 'new', ...flags })).status).toBe(200)
  expect(
    await server.call<NotificationRow[]>('/v2/notifications/get', {
      organizationId: 'note-4',
      documentId: 'new',
    }),
  ).toHaveLength(2)
  for (const data of [{ organizationId: 'none' }, { organizationId: 'acme', documentId: 'none' }])
    for (const name of ['get', 'delete'])
      expect(errorOf(await server.post(`/v2/notifications/${name}`, { ...data, userId: 'ann' }))).toEqual([
        'NOT_FOUND',
      ])
})

it('[NOTE-5] with notifyAll, addresses all current users, but stores no more entries than for a single user', async () => {
  const { add, addUsers, ids, stored } = await organization('all-5')
  const many = Array.from({ length: 2_000 }, (_, index) => `user-${index}`)
  for (let at = 0; at < many.length; at += 500) await addUsers(many.slice(at, at + 500))
  await add({ notificationId: 'everybody' })
  expect((await stored()).length).toBe(6)
  await add({ notificationId: 'few', notifyAll: false, notifyUsers: [{ userId: 'user-7' }] })
  server.clock.advance(1)
  await addUsers(['late'])
  expect(await ids({ userId: 'user-0' })).toEqual(['everybody'])
  expect(await ids({ userId: 'user-1999' })).toEqual(['everybody'])
  expect((await ids({ userId: 'user-7' })).toSorted()).toEqual(['everybody', 'few'])
  expect(await ids({ userId: 'late' })).toEqual([])
  expect(await ids({ userId: 'stranger' })).toEqual([])
  server.clock.advance(1)
  await add({ notificationId: 'later', documentId: 'd2' })
  expect(await ids({ userId: 'late' })).toEqual(['later'])
})

it('[NOTE-6] renders the headline separately for each recipient', async () => {
  const { add, get, call } = await organization('render-6')
  await call('/v2/users/add', { users: [{ userId: 'ann', name: 'Ann' }, { userId: 'bob' }] })
  await add({
    displayHeadlineMessageTemplate: '{actionUser} to {recipientUser}: {title} {count} {owner} {unknown} {}',
    displayHeadlineMessageTemplateData: {
      title: '{recipientUser}',
      count: 3,
      owner: { userId: 'o', name: 'Olga' },
      recipientUser: { userId: 'x', name: 'X' },
    },
    notifyUsers: [{ userId: 'cy', name: 'Cy' }],
  })
  const headline = async (userId?: string) => (await get({ userId }))[0]?.displayHeadlineMessage
  const rest = '{recipientUser} 3 Olga {unknown} {}'
  for (const reader of ['ann', 'bob', 'cy', undefined])
    expect(await headline(reader)).toBe(`Eve to X: ${rest}`)
  server.clock.advance(1)
  await add({
    displayHeadlineMessageTemplate: 'for {recipientUser}',
    notifyUsers: [{ userId: 'cy', name: 'Cy' }],
  })
  expect(await headline('ann')).toBe('for Ann')
  expect(await headline('bob')).toBe('for bob')
  expect(await headline('cy')).toBe('for Cy')
  expect(await headline()).toBe('for {recipientUser}')
})

it('[NOTE-7] lists the notifications that match any combination of document, user and ids, in both orders', async () => {
  const { add, ids, post } = await organization('get-7', ['ann', 'bob'])
  const forAnn = { notifyAll: false, notifyUsers: [{ userId: 'ann' }] }
  for (const [notificationId, data] of Object.entries({
    a: { documentId: 'd1' },
    b: { documentId: 'd1', ...forAnn },
    c: { documentId: 'd2', ...forAnn },
    d: { documentId: 'd2', notifyUsers: [{ userId: 'bob' }] },
  })) {
    server.clock.advance(1)
    await add({ notificationId, ...data })
  }
  expect(await ids()).toEqual(['d', 'c', 'b', 'a'])
  expect(await ids({ order: 'asc' })).toEqual(['a', 'b', 'c', 'd'])
  expect(await ids({ documentId: 'd1' })).toEqual(['b', 'a'])
  expect(await ids({ userId: 'ann' })).toEqual(['d', 'c', 'b', 'a'])
  expect(await ids({ userId: 'bob', order: 'asc' })).toEqual(['a', 'd'])
  expect(await ids({ userId: 'bob', documentId: 'd2' })).toEqual(['d'])
  expect(await ids({ notificationIds: ['c', 'nothing', 'a', 'c'] })).toEqual(['c', 'a'])
  expect(await ids({ notificationIds: ['c', 'a'], userId: 'bob' })).toEqual(['a'])
  expect(await ids({ notificationIds: ['c', 'a'], documentId: 'd2' })).toEqual(['c'])
  const many = Array.from({ length: 31 }, (_, index) => `n${index}`)
  expect(errorOf(await post('/v2/notifications/get', { notificationIds: many }))).toEqual([
    'INVALID_ARGUMENT',
    '/data/notificationIds',
  ])
  expect(errorOf(await post('/v2/notifications/get', { order: 'up' }))[1]).toBe('/data/order')
  expect(errorOf(await post('/v2/notifications/get', { pageSize: 0 }))[1]).toBe('/data/pageSize')
})

it.each(['asc', 'desc'] as const)(
  '[NOTE-8] lists each remaining notification once in pages while other notifications are added and deleted (%s)',
  async (order) => {
    const { add, remove, post } = await organization(`pages-8-${order}`, ['ann'])
    const stay: string[] = []
    const go: string[] = []
    for (let index = 0; index < 60; index++) {
      if (index % 3 === 0) server.clock.advance(1)
      const { notificationId } = await add({ notifyUsers: index % 2 ? [{ userId: 'ann' }] : [] })
      ;(index % 4 === 3 ? go : stay).push(notificationId)
    }
    server.clock.advance(1)
    const between = async () => {
      await add()
      const notificationId = go.pop()
      if (notificationId !== undefined) await remove({ notificationIds: [notificationId] })
    }
    const pages = await allPages(
      (more) => post('/v2/notifications/get', { userId: 'ann', pageSize: 7, order, ...more }),
      between,
    )
    const seen = pages.flat().map(({ id }) => id)
    expect(new Set(seen).size).toBe(seen.length)
    expect(stay.filter((id) => !seen.includes(id))).toEqual([])
    const times = pages.flat().map(({ createdAt }) => createdAt)
    expect(order === 'asc' ? times : times.toReversed()).toEqual(times.toSorted((a, b) => a - b))
    expect(pages.slice(0, -1).every((page) => page.length === 7)).toBe(true)
  },
)

it('[NOTE-8] accepts a page token only for the query that returned it', async () => {
  const { add, post } = await organization('token-8', ['ann'])
  await add()
  await add()
  const first = await post('/v2/notifications/get', { pageSize: 1 })
  const { pageToken } = first.body.result as unknown as { pageToken: string }
  expect((await post('/v2/notifications/get', { pageToken, pageSize: 2 })).status).toBe(200)
  for (const other of [{ documentId: 'd1' }, { userId: 'ann' }, { order: 'asc' }, { organizationId: 'acme' }])
    expect(errorOf(await post('/v2/notifications/get', { pageToken, ...other }))).toEqual([
      'INVALID_ARGUMENT',
    ])
})

it('[NOTE-17] when a value exceeds a limit, rejects the call with the position of the value', async () => {
  const { add, post } = await organization('limits-17')
  await add({ notificationId: 'n' })
  const path = '/v1/notifications/add'
  const large = { text: 'x'.repeat(notificationLimits.dataBytes) }
  const tooMany = Array.from({ length: notificationLimits.notifyUsers + 1 }, (_, index) => ({
    userId: `u${index}`,
  }))
  const tooLong = tooMany.slice(1).map((user) => ({ ...user, email: 'x'.repeat(320) }))
  for (const [data, place] of [
    [{ notifyUsers: tooMany }, '/data/notifyUsers'],
    [{ notifyUsers: [{}] }, '/data/notifyUsers/0/userId'],
    [{ notifyUsers: tooLong }, '/data/notifyUsers'],
    [{ notificationSourceData: large }, '/data/notificationSourceData'],
    [{ displayHeadlineMessageTemplateData: large }, '/data/displayHeadlineMessageTemplateData'],
    [{ displayBodyMessage: 'x'.repeat(20_001) }, '/data/displayBodyMessage'],
    [{ actionUser: 'eve' }, '/data/actionUser'],
  ] as const)
    expect(errorOf(await post(path, { ...plain, ...data }))).toEqual(['INVALID_ARGUMENT', place])
  const change = { notifications: [{ id: 'm', notificationSourceData: large }] }
  expect(errorOf(await post('/v2/notifications/update', change))).toEqual([
    'INVALID_ARGUMENT',
    '/data/notifications/0/notificationSourceData',
  ])
})

it('[NOTE-17] does not show notifications of another API key', async () => {
  const { add, ids, post } = await organization('keys-17', ['ann'])
  await add({ notificationId: 'n' })
  const { workspaceId } = server.credentials
  const tenants = new TenantStore(server.engine.kv)
  const other = { workspaceId, apiKey: 'other-key' }
  await tenants.addApiKey({ id: other.apiKey, workspaceId, apiKeyName: '', type: 'testing', createdAt: 1 })
  await tenants.putAuthToken(other, { token: 'other-token', name: 'default', domains: [], createdAt: 1 })
  const headers = { 'x-service-api-key': other.apiKey, 'x-service-auth-token': 'other-token' }
  const postAsOther = (path: string, data: object) =>
    server.post(path, { organizationId: 'keys-17', ...data }, headers)
  const calls = [
    ['/v1/notifications/add', { ...plain, notificationId: 'n' }],
    ['/v2/notifications/get', { notificationIds: ['n'] }],
    ['/v2/notifications/update', { notifications: [{ id: 'n', readByUserIds: ['ann'] }] }],
    ['/v2/notifications/delete', { notificationIds: ['n'] }],
    ['/v2/notifications/config/set', { userIds: ['ann'], config: { inbox: 'NONE' } }],
    ['/v2/notifications/config/get', { userId: 'ann' }],
  ] as const
  for (const [path, data] of calls) expect(errorOf(await postAsOther(path, data))).toEqual(['NOT_FOUND'])
  const flags = { createOrganization: true, createDocument: true }
  const own = await postAsOther('/v1/notifications/add', { ...plain, ...flags, notificationId: 'n' })
  expect(own.body.result?.data).toMatchObject({ success: true })
  await postAsOther('/v2/notifications/delete', { notificationIds: ['n'] })
  await postAsOther('/v2/notifications/config/set', { userIds: ['ann'], config: { inbox: 'NONE' } })
  expect(await ids({ userId: 'ann' })).toEqual(['n'])
  const first = await post('/v2/notifications/get', {})
  expect(first.body.result?.data).toMatchObject([{ id: 'n', readByUserIds: [] }])
})

it('[NOTE-8] limits the size of a page, and how many notifications the server reads to fill a page', async () => {
  const { scope, post } = await organization('bounds-8', ['ann'])
  const service = new NotificationService(server.directory.store, server.clock)
  const adding = (id: string, more: object = {}) =>
    service.add(scope, {
      ...plain,
      displayHeadlineMessageTemplateData: {},
      notificationSourceData: {},
      notifyAll: false,
      id,
      ...more,
    })
  const foreign = Array.from({ length: notificationLimits.scanned + 100 }, (_, index) => `bob-${index}`)
  await adding('last', { notifyUsers: [{ userId: 'ann' }] })
  server.clock.advance(1)
  await mapInSlices(foreign, (id) => adding(id, { notifyUsers: [{ userId: 'bob' }] }), 200)
  const forAnn = { documentId: 'd1', userId: 'ann' }
  const found = await allPages((more) => post('/v2/notifications/get', { ...forAnn, ...more }))
  expect(found.map((page) => page.map(({ id }) => id))).toEqual([[], ['last']])
  const large = Array.from({ length: 20 }, (_, index) => `large-${index}`)
  const notificationSourceData = { text: 'x'.repeat(notificationLimits.pageBytes / 10) }
  for (const id of large) await adding(id, { documentId: 'd2', notificationSourceData })
  const pages = await allPages((more) => post('/v2/notifications/get', { documentId: 'd2', ...more }))
  expect(pages.map((page) => page.length)).toEqual([9, 9, 2])
  expect(new Set(pages.flat().map(({ id }) => id))).toEqual(new Set(large))
})
