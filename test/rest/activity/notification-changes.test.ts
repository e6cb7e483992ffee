import { afterAll, beforeAll, expect, it } from 'vitest'
import { notificationLimits } from '../../../src/capabilities/notifications/limits.ts'
import { organizationPart } from '../../../src/core/directory/organizations/organization-keys.ts'
import { notificationsOf } from '../../support/data/notifications.ts'
import { errorOf, type PeopleServer, startPeopleServer } from '../../support/servers/acme-server.ts'

let server: PeopleServer
beforeAll(async () => {
  server = await startPeopleServer()
})
afterAll(() => server.stop())

const organization = (organizationId: string, userIds?: readonly string[]) =>
  notificationsOf(server, organizationId, userIds)

it('[NOTE-12] changes the given members of a notification, and adds the given readers to its existing readers', async () => {
  const { add, get, update, addUsers } = await organization('update-12', ['ann', 'bob'])
  await add({ notificationId: 'n', notificationSourceData: { a: 1 } })
  await add({ notificationId: 'mine', notifyAll: false, notifyUsers: [{ userId: 'cy' }] })
  const [before] = await get({ notificationIds: ['n'] })
  server.clock.advance(1000)
  await addUsers(['late'])
  expect(
    await update(
      { id: 'n', readByUserIds: ['bob'] },
      { id: 'mine', displayBodyMessage: 'other', readByUserIds: ['cy', 'ann'] },
      { id: 'none', readByUserIds: ['ann'] },
    ),
  ).toMatchObject({ n: { success: true }, mine: { success: false }, none: { success: false } })
  expect(await get({ notificationIds: ['n'] })).toEqual([{ ...before, readByUserIds: ['bob'] }])
  expect((await update({ id: 'n', readByUserIds: ['late'] })).n?.success).toBe(false)
  expect(await get({ notificationIds: ['mine'] })).toMatchObject([
    { displayBodyMessage: 'body', readByUserIds: [] },
  ])
  await update({
    id: 'n',
    displayHeadlineMessageTemplate: 'Now {x}',
    displayHeadlineMessageTemplateData: { x: 'y' },
    readByUserIds: ['ann', 'ann'],
  })
  expect(await get({ documentId: 'd1', notificationIds: ['n'] })).toEqual([
    {
      ...before,
      displayHeadlineMessageTemplate: 'Now {x}',
      displayHeadlineMessageTemplateData: { x: 'y' },
      displayHeadlineMessage: 'Now y',
      readByUserIds: ['ann', 'bob'],
      lastUpdated: server.clock.now(),
    },
  ])
  const ofAnn = { userId: 'ann', notificationIds: ['n'] }
  expect((await get(ofAnn))[0]?.readByUserIds).toEqual(['ann'])
  expect(Object.keys(await update({ id: 'mine' }, { id: 'mine' }))).toEqual(['mine'])
})

it('[NOTE-12] lists the readers of a notification even after a hundred other users have removed it for themselves', async () => {
  const userIds = Array.from(
    { length: notificationLimits.readersShown + 20 },
    (_, index) => `u${1_000 + index}`,
  )
  const { add, get, update, remove } = await organization('readers-12', userIds)
  await add({ notificationId: 'n' })
  const readers = userIds.slice(notificationLimits.readersShown)
  for (const userId of userIds.slice(0, notificationLimits.readersShown))
    await remove({ userId, notificationIds: ['n'] })
  await update({ id: 'n', readByUserIds: readers })
  expect(await get({ notificationIds: ['n'] })).toMatchObject([{ readByUserIds: readers }])
})

it('[NOTE-13] deletes only the notifications that match the filters', async () => {
  const { add, ids, update, remove, post, stored } = await organization('delete-13', ['ann', 'bob'])
  expect(errorOf(await post('/v2/notifications/delete', {}))).toEqual([
    'INVALID_ARGUMENT',
    '/data/notificationIds',
  ])
  const direct = (...userIds: string[]) => ({
    notifyAll: false,
    notifyUsers: userIds.map((userId) => ({ userId })),
  })
  await add({ notificationId: 'all' })
  await add({ notificationId: 'both', ...direct('ann', 'bob') })
  await add({ notificationId: 'ann', documentId: 'd2', ...direct('ann') })
  await update(
    { id: 'all', readByUserIds: ['ann', 'bob'] },
    { id: 'both', readByUserIds: ['ann', 'bob'] },
    { id: 'ann', readByUserIds: ['ann'] },
  )
  const sorted = async (data: object = {}) => (await ids(data)).toSorted()
  expect(await remove({ userId: 'ann', documentId: 'd1' })).toMatchObject({
    all: { success: true },
    both: { success: true },
  })
  expect([await sorted({ userId: 'ann' }), await sorted({ userId: 'bob' }), await sorted()]).toEqual([
    ['ann'],
    ['all', 'both'],
    ['all', 'ann', 'both'],
  ])
  expect(await remove({ userId: 'ann' })).toMatchObject({ ann: { success: true } })
  expect(await sorted()).toEqual(['all', 'both'])
  expect(await remove({ notificationIds: ['both', 'none'], documentId: 'd1' })).toMatchObject({
    both: { success: true },
    none: { success: false },
  })
  expect(await remove({ documentId: 'd1' })).toMatchObject({ all: { success: true } })
  expect(await stored()).toEqual([])
  await add({ notificationId: 'all' })
  expect(await ids({ userId: 'ann' })).toEqual(['all'])
  await remove({ notificationIds: ['all'] })
})

it('[NOTE-13] removes all data of a notification, however many readers it has, and needs several calls to delete many notifications', async () => {
  const { add, addUsers, update, remove, stored, post } = await organization('delete-many')
  const many = Array.from({ length: 1_200 }, (_, index) => `user-${index}`)
  for (let at = 0; at < many.length; at += 400) await addUsers(many.slice(at, at + 400))
  await add({ notificationId: 'n' })
  for (let at = 0; at < many.length; at += 400)
    await update({ id: 'n', readByUserIds: many.slice(at, at + 400) })
  await Promise.all([remove({ notificationIds: ['n'] }), update({ id: 'n', readByUserIds: ['user-0'] })])
  expect(await stored()).toEqual([])
  for (let index = 0; index < notificationLimits.deleted + 1; index++) await add()
  const first = await post('/v2/notifications/delete', { documentId: 'd1' })
  expect(first.body.result?.message).toContain('call again')
  const second = await post('/v2/notifications/delete', { documentId: 'd1' })
  expect(second.body.result?.message).toBe('1 of 1 notifications deleted.')
  expect(await stored()).toEqual([])
})

it('[NOTE-14] deletes notifications when their document, folder or organization is deleted', async () => {
  const { add, update, configure, call, ids, stored, scope } = await organization('removal-14', ['ann'])
  await call('/v1/organizations/folders/add', { folders: [{ folderId: 'f' }] })
  await call('/v2/organizations/documents/add', { documents: [{ documentId: 'inside', folderId: 'f' }] })
  for (const documentId of ['d1', 'd2', 'inside']) {
    await add({ notificationId: documentId, documentId, notifyUsers: [{ userId: 'ann' }] })
    await update({ id: documentId, readByUserIds: ['ann'] })
    await configure(['ann', 'other'], { inbox: 'ALL' }, [documentId])
  }
  await call('/v2/organizations/documents/delete', { documentIds: ['d1'] })
  await call('/v2/organizations/folders/delete', { folderId: 'f' })
  expect(await ids()).toEqual(['d2'])
  const left = (await stored()).flat()
  expect([left.includes('d2'), left.includes('d1'), left.includes('inside')]).toEqual([true, false, false])
  await server.call('/v2/organizations/delete', { organizationIds: ['removal-14'] })
  expect(await server.engine.kv.scan(organizationPart(scope), { limit: 10 })).toEqual([])
})

it('[NOTE-15] deletes the notifications of a user when the user is deleted', async () => {
  const { add, addUsers, update, configure, call, ids, get, stored } = await organization('leave-15', [
    'ann',
    'bob',
  ])
  await add({ notificationId: 'all', notifyUsers: [{ userId: 'ann', name: 'Ann' }] })
  await add({ notificationId: 'everybody' })
  const both = { notifyAll: false, notifyUsers: [{ userId: 'ann', name: 'Ann' }, { userId: 'bob' }] }
  await add({ notificationId: 'both', ...both })
  for (let index = 0; index < 230; index++)
    await add({ notificationId: `own-${index}`, notifyAll: false, notifyUsers: [{ userId: 'ann' }] })
  const read = ['all', 'everybody', 'both', ...Array.from({ length: 230 }, (_, index) => `own-${index}`)]
  await update(...read.map((id) => ({ id, readByUserIds: ['ann'] })))
  await update({ id: 'both', readByUserIds: ['bob'] })
  await configure(['ann'], { inbox: 'MINE' })
  await configure(['ann'], { inbox: 'NONE' }, ['d1', 'd2'])
  await call('/v2/users/delete', { userIds: ['ann'] })
  expect((await ids()).toSorted()).toEqual(['all', 'both', 'everybody'])
  expect((await stored()).flat()).not.toContain('ann')
  expect(await get({ notificationIds: ['both', 'all'] })).toMatchObject([
    { notifyUsers: [{ userId: 'bob' }], readByUserIds: ['bob'] },
    { notifyUsers: [], readByUserIds: [] },
  ])
  server.clock.advance(1)
  await addUsers(['ann'])
  expect(await ids({ userId: 'ann' })).toEqual([])
})
