import { afterAll, beforeAll, expect, it } from 'vitest'
import { notificationsOf } from '../../support/data/notifications.ts'
import { errorOf, type PeopleServer, startPeopleServer } from '../../support/servers/acme-server.ts'

let server: PeopleServer
beforeAll(async () => {
  server = await startPeopleServer()
})
afterAll(() => server.stop())

const organization = (organizationId: string, userIds?: readonly string[]) =>
  notificationsOf(server, organizationId, userIds)

it('[NOTE-9] shows a user the notifications that the config allows; the config of a document overrides the config of the organization', async () => {
  const { add, ids, configure } = await organization('config-9', ['ann', 'bob'])
  await add({ notificationId: 'all-1', documentId: 'd1' })
  await add({ notificationId: 'ann-1', documentId: 'd1', notifyUsers: [{ userId: 'ann' }] })
  await add({ notificationId: 'all-2', documentId: 'd2' })
  await add({ notificationId: 'ann-2', documentId: 'd2', notifyUsers: [{ userId: 'ann' }] })
  const seen = async () => (await ids({ userId: 'ann' })).toSorted()
  const everything = ['all-1', 'all-2', 'ann-1', 'ann-2']
  expect(await seen()).toEqual(everything)
  await configure(['ann'], { email: 'NONE', slack: 'NONE' })
  expect(await seen()).toEqual(everything)
  await configure(['ann'], { inbox: 'MINE' })
  expect(await seen()).toEqual(['ann-1', 'ann-2'])
  await configure(['ann'], { inbox: 'ALL' }, ['d1'])
  expect(await seen()).toEqual(['all-1', 'ann-1', 'ann-2'])
  await configure(['ann'], { inbox: 'NONE' })
  expect(await seen()).toEqual(['all-1', 'ann-1'])
  await configure(['ann'], { email: 'MINE' }, ['d2'])
  expect(await seen()).toEqual(['all-1', 'ann-1'])
  await configure(['ann'], { inbox: 'MINE' }, ['d2', 'd1'])
  expect(await seen()).toEqual(['ann-1', 'ann-2'])
  expect(await ids({ userId: 'ann', notificationIds: everything })).toEqual(['ann-1', 'ann-2'])
  expect((await ids({ userId: 'bob' })).toSorted()).toEqual(everything)
  expect((await ids()).toSorted()).toEqual(everything)
})

it('[NOTE-10] sets the given members in the config of each listed user, and returns one result for each user', async () => {
  const { configure, call, post, stored } = await organization('set-10', ['ann'])
  expect(await configure(['ann', '__proto__'], { inbox: 'MINE' })).toEqual(
    Object.fromEntries(
      ['ann', '__proto__'].map((userId) => [
        userId,
        { success: true, userId, documentId: '', message: 'set for the organization' },
      ]),
    ),
  )
  expect(await configure(['ann'], { slack: 'NONE' }, ['d1'])).toMatchObject({
    ann: { success: true, userId: 'ann', documentId: 'd1' },
  })
  await configure(['ann'], { email: 'ALL' })
  const before = await stored()
  const path = '/v2/notifications/config/set'
  const config = { inbox: 'NONE' }
  expect(errorOf(await post(path, { userIds: ['ann'], config, organizationId: 'none' }))).toEqual([
    'NOT_FOUND',
  ])
  expect(await stored()).toEqual(before)
  for (const [data, place] of [
    [{ userIds: ['ann'], config: { inbox: 'SOME' } }, '/data/config/inbox'],
    [{ userIds: ['ann'] }, '/data/config'],
  ] as const)
    expect(errorOf(await post(path, data))).toEqual(['INVALID_ARGUMENT', place])
  const many = Array.from({ length: 500 }, (_, index) => `user-${index}`)
  expect(Object.keys(await configure(many, config, ['d1', 'd2', 'd3']))).toHaveLength(500)
  expect(
    await call('/v2/notifications/config/get', { userId: 'user-499', documentIds: ['d3'] }),
  ).toMatchObject([{ config }])
})

it('[NOTE-11] returns both the stored and the effective config', async () => {
  const { configure, call, post } = await organization('get-11')
  const read = (data: object) => call('/v2/notifications/config/get', { userId: 'ann', ...data })
  const ofOrganization = {
    userId: 'ann',
    documentId: '',
    config: { inbox: 'NONE', email: 'MINE' },
    effectiveConfig: { inbox: 'NONE', email: 'MINE', slack: 'ALL' },
  }
  await configure(['ann'], { inbox: 'MINE', email: 'MINE' })
  await configure(['ann'], { inbox: 'NONE' })
  await configure(['ann'], { slack: 'NONE', email: 'ALL' }, ['d1'])
  const ofDocuments = [
    {
      userId: 'ann',
      documentId: 'd2',
      config: {},
      effectiveConfig: { inbox: 'NONE', email: 'MINE', slack: 'ALL' },
    },
    {
      userId: 'ann',
      documentId: 'd1',
      config: { slack: 'NONE', email: 'ALL' },
      effectiveConfig: { inbox: 'NONE', email: 'ALL', slack: 'NONE' },
    },
  ]
  expect(await read({})).toEqual([ofOrganization])
  expect(await read({ documentIds: ['d2', 'd1', 'd2'] })).toEqual(ofDocuments)
  expect(await read({ documentIds: ['d2', 'd1'], getOrganizationConfig: true })).toEqual([
    ofOrganization,
    ...ofDocuments,
  ])
  expect(await read({ userId: 'bob' })).toMatchObject([
    { config: {}, effectiveConfig: { inbox: 'ALL', email: 'ALL', slack: 'ALL' } },
  ])
  const path = '/v2/notifications/config/get'
  expect(errorOf(await post(path, { userId: 'ann', documentIds: ['none'] }))).toEqual(['NOT_FOUND'])
  expect(errorOf(await post(path, {}))).toEqual(['INVALID_ARGUMENT', '/data/userId'])
})
