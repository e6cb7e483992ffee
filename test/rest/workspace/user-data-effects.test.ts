import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { deletedUserId } from '../../../src/core/model/deleted-user.ts'
import { type Datum, fillOrganization, userDataOf, zoe } from '../../support/data/user-data.ts'
import { oddIds, type PeopleServer, startPeopleServer } from '../../support/servers/acme-server.ts'
import { dataOf } from '../../support/servers/server.ts'

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

it('[DATA-4] keeps the entries of other users, and shows the erased user in them as deleted', async () => {
  await fillOrganization(post, 'stay-4')
  const at = { organizationId: 'stay-4' }
  interface Row {
    id: string
    timestamp: number
    actionUser: object
  }
  const activities = (more: object = {}) => post('/v2/activities/get', { ...at, ...more }) as Promise<Row[]>
  const placed = (rows: readonly Row[]) => rows.map(({ id, timestamp }) => [id, timestamp])
  const before = placed(await activities())
  await data.erase(at)
  const rows = await activities()
  // A job may record the activity of an edit later.
  expect(placed(rows)).toEqual(expect.arrayContaining(before))
  const deleted = { userId: deletedUserId }
  expect(rows).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        id: 'by',
        actionUser: deleted,
        displayMessageTemplateData: { user: deleted, said: deletedUserId, to: deletedUserId, other: 'kept' },
      }),
      expect.objectContaining({
        id: 'about',
        changes: { from: [{ was: deleted }], to: { userId: 'bob', name: 'Bob' } },
      }),
      expect.objectContaining({ id: 'user', targetEntityId: deletedUserId }),
    ]),
  )
  const ids = async (filter: object) => (await activities(filter)).map(({ id }) => id)
  expect(await ids({ userId: zoe.userId })).toEqual([])
  expect(await ids({ targetEntityId: zoe.userId })).toEqual([])
  expect(await ids({ userId: deletedUserId })).toEqual(expect.arrayContaining(['by']))
  expect(await ids({ targetEntityId: deletedUserId, actionTypes: ['user.ban'] })).toEqual(['user'])
  const notifications = (await post('/v2/notifications/get', { ...at, userId: 'bob' })) as { id: string }[]
  expect(notifications.map(({ id }) => id).toSorted()).toEqual(['both', 'named'])
  expect(notifications).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: 'both', actionUser: deleted }),
      expect.objectContaining({ id: 'named', notificationSourceData: { about: [deleted] } }),
    ]),
  )
  expect(kinds(await data.all({ ...at, userId: 'bob' }))).toEqual(
    expect.arrayContaining(['user', 'membership', 'presence', 'notificationMark', 'notificationConfig']),
  )
})

it('[DATA-4] keeps comment threads and their activities, and shows the erased user in them as deleted', async () => {
  const at = { organizationId: 'threads-4', documentId: 'd1' }
  await fillOrganization(post, at.organizationId)
  type Row = Record<string, unknown>
  const threads = () => post('/v2/commentannotations/get', at) as Promise<Row[]>
  const told = () =>
    post('/v2/activities/get', { ...at, featureTypes: ['comment', 'reaction'], order: 'asc' }) as Promise<
      Row[]
    >
  const [threadsBefore, toldBefore] = [await threads(), await told()]
  await data.erase({ organizationId: at.organizationId })
  const deleted = { userId: deletedUserId }
  const erased = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(JSON.stringify(zoe), JSON.stringify(deleted))
        .replaceAll(JSON.stringify(zoe.name), JSON.stringify(deletedUserId))
        .replaceAll(JSON.stringify(zoe.email), JSON.stringify(deletedUserId))
        .replaceAll(JSON.stringify(zoe.userId), JSON.stringify(deletedUserId)),
    )
  expect(await threads()).toEqual(erased(threadsBefore))
  expect(await told()).toEqual(erased(toldBefore))
  expect(JSON.stringify([threadsBefore, toldBefore]).split(JSON.stringify(zoe)).length).toBeGreaterThan(10)
  const assigned = (await told()).filter(({ actionType }) => actionType === 'comment_annotation.assign')
  // Activities of one millisecond have no order.
  const first = ({ changes }: Row) => JSON.stringify(changes).includes('"from":null')
  expect([...assigned.filter(first), ...assigned.filter((row) => !first(row))]).toMatchObject([
    { changes: { assignedTo: { from: null, to: deleted } }, displayMessageTemplateData: { to: deleted } },
    { changes: { assignedTo: { from: deleted, to: bob } }, displayMessageTemplateData: { from: deleted } },
  ])
  const judgments = (await post('/v2/memory/judgments/query', {
    organizationId: at.organizationId,
  })) as { query: string; reviewerId: string }[]
  expect(judgments.map(({ query, reviewerId }) => `${query} ${reviewerId}`).toSorted()).toEqual([
    'Mine ',
    'Refund ',
    'Refund bob',
  ])
})

it("[DATA-4] erases every occurrence of the user's id, and no similar id", async () => {
  const at = { organizationId: 'odd-4', documentId: 'd1' }
  await fillOrganization(post, 'odd-4')
  for (const userId of [...oddIds, 'd1', 'bob']) {
    const like = `${userId.slice(0, 500)}x`
    const activities = [userId, like].map((id, index) => ({
      id: `act-${index}`,
      featureType: 'comment',
      actionType: 'comment.add',
      actionUser: { userId: id },
      targetEntityId: userId,
      changes: { [userId]: 1, text: `by ${userId}`, users: [{ userId: id, extra: 1 }] },
    }))
    await post('/v2/activities/add', { ...at, activities })
    await data.erase({ userId, organizationId: 'odd-4' })
    const rows = await post('/v2/activities/get', { ...at, activityIds: ['act-0', 'act-1'], order: 'asc' })
    expect(rows).toMatchObject([
      {
        actionUser: { userId: deletedUserId },
        targetEntityId: userId,
        changes: { users: [{ userId: deletedUserId }] },
      },
      {
        actionUser: { userId: like },
        changes: { [userId]: 1, text: `by ${userId}`, users: [{ userId: like, extra: 1 }] },
      },
    ])
    expect(await data.all({ userId, organizationId: 'odd-4' })).toEqual([])
  }
})

it('[DATA-4] erases only this user in any JSON that contains users', async () => {
  const at = { organizationId: 'json-4', documentId: 'd1' }
  await fillOrganization(post, 'json-4')
  const user = fc.record({ userId: fc.constantFrom('ann', 'ben', zoe.userId), name: fc.string() })
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      user,
      fc.string(),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'of'), tie('tree'), { maxKeys: 3 }),
    ),
  }))
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.constantFrom('x', 'y'), tree), user, async (changes, actionUser) => {
      const activity = { id: 'tree', featureType: 'comment', actionType: 'comment.add', actionUser, changes }
      await post('/v2/activities/add', { ...at, activities: [activity] })
      const found = idsOf(await data.all({ organizationId: 'json-4' }), 'activity').includes('tree')
      expect(found).toBe(JSON.stringify([actionUser, changes]).includes(zoe.userId))
      await data.erase({ organizationId: 'json-4' })
      const [row] = (await post('/v2/activities/get', { ...at, activityIds: ['tree'] })) as {
        changes?: object
      }[]
      expect(JSON.stringify(row)).not.toContain(zoe.userId)
      if (!found) expect(row?.changes).toEqual(changes)
    }),
    { numRuns: 60 },
  )
})
