import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { activityBytesMax } from '../../../src/core/events/activity.ts'
import { openDirectory, scopeOf, tenant } from '../../support/data/directory.ts'
import {
  errorOf,
  type ItemResults,
  oddIds,
  type PeopleServer,
  startPeopleServer,
} from '../../support/servers/acme-server.ts'

interface Row {
  id: string
  featureType: string
  actionType: string
  actionUser: { userId: string; name?: string }
  targetEntityId?: string
  timestamp: number
  metadata: { documentId?: string }
}

let server: PeopleServer
beforeAll(async () => {
  server = await startPeopleServer()
})
afterAll(() => server.stop())

/** An organization with the documents `d1` and `d2`. */
const organization = async (organizationId: string): Promise<{ organizationId: string }> => {
  const scope = scopeOf(server.credentials, organizationId)
  await server.directory.organizations.ensure(scope)
  const documents = [{ documentId: 'd1' }, { documentId: 'd2' }]
  await server.directory.documents.add(scope, documents, { createFolder: false })
  return { organizationId }
}
const activity = (id: string, more: object = {}) => ({
  id,
  featureType: 'comment',
  actionType: 'comment.add',
  actionUser: { userId: 'ann' },
  ...more,
})
const add = (data: object) => server.call<ItemResults>('/v2/activities/add', { documentId: 'd1', ...data })
/** Leaves out the activities of creating the organization. */
const get = async (data: object) => {
  const all = await server.call<Row[]>('/v2/activities/get', data)
  return all.filter(({ actionUser }) => actionUser.userId !== server.credentials.apiKey)
}
const idsOf = (rows: readonly Row[]): string[] => rows.map(({ id }) => id)
const page = async (data: object) => {
  const { body } = await server.post('/v2/activities/get', data)
  return body.result as unknown as { data: Row[]; pageToken?: string }
}

it('[ACT-1] returns an activity as it was added, and does not fill in its placeholders', async () => {
  const at = await organization('add-1')
  const given = {
    id: 'review',
    featureType: 'custom',
    actionType: 'review.done',
    actionUser: { userId: 'ann', name: 'Ann', email: 'ann@example.com' },
    targetEntityId: 'chapter 1',
    changes: { state: { from: 'open', to: 'done' } },
    displayMessageTemplate: '{{user}} reviewed {{missing}}',
    displayMessageTemplateData: { user: { userId: 'ann', name: 'Ann' } },
  }
  const results = await add({ ...at, activities: [given] })
  expect(results).toEqual({ review: { success: true, id: 'review', message: 'added' } })
  expect(await get(at)).toEqual([
    {
      ...given,
      timestamp: server.clock.now(),
      metadata: { apiKey: server.credentials.apiKey, ...at, documentId: 'd1' },
    },
  ])
  const [made] = Object.keys(await add({ ...at, activities: [{ ...given, id: undefined }] }))
  expect(idsOf(await get({ ...at, activityIds: [made] }))).toEqual([made])
})

it('[ACT-2] when an activity with an existing id is added, overwrites the old one, but keeps its time', async () => {
  const at = await organization('again-2')
  await add({ ...at, activities: [activity('a', { targetEntityId: 'x' }), activity('b')] })
  const timestamp = server.clock.now()
  server.clock.advance(1000)
  const again = { ...activity('a', { actionType: 'comment.update' }), actionUser: { userId: 'bob' } }
  await add({ ...at, documentId: 'd2', activities: [again] })
  expect(await get({ ...at, order: 'asc' })).toMatchObject([
    { id: 'a', actionType: 'comment.update', actionUser: { userId: 'bob' }, timestamp },
    { id: 'b', timestamp },
  ])
  for (const gone of [
    { targetEntityId: 'x' },
    { userId: 'ann', activityIds: ['a'] },
    { documentId: 'd1', activityIds: ['a'] },
  ])
    expect(await get({ ...at, ...gone })).toEqual([])
  expect(idsOf(await get({ ...at, documentId: 'd1' }))).toEqual(['b'])
  expect(idsOf(await get({ ...at, userId: 'bob' }))).toEqual(['a'])
  expect(idsOf(await get({ ...at, actionTypes: ['comment.add'] }))).toEqual(['b'])
})

it('[ACT-3] rejects malformed activities: a custom activity without a target, an unknown document, excess size', async () => {
  const at = await organization('refused-3')
  const post = (activities: object[], more: object = {}) =>
    server.post('/v2/activities/add', { ...at, documentId: 'd1', activities, ...more })
  const custom = activity('c', { featureType: 'custom' })
  expect(errorOf(await post([custom]))).toEqual(['INVALID_ARGUMENT', '/data/activities/0/targetEntityId'])
  expect(errorOf(await post([activity('a', { featureType: 'else' })]))[1]).toBe(
    '/data/activities/0/featureType',
  )
  for (const name of ['featureType', 'actionType', 'actionUser'])
    expect(errorOf(await post([activity('a', { [name]: undefined })]))[1]).toBe(`/data/activities/0/${name}`)
  const many = Array.from({ length: 501 }, (_, index) => activity(`${index}`))
  expect(errorOf(await post(many))).toEqual(['INVALID_ARGUMENT', '/data/activities'])
  expect(errorOf(await post([activity('a')], { documentId: 'none' }))).toEqual(['NOT_FOUND'])
  expect(errorOf(await post([activity('a')], { organizationId: 'none' }))).toEqual(['NOT_FOUND'])
  expect(errorOf(await server.post('/v2/activities/get', { organizationId: 'none' }))).toEqual(['NOT_FOUND'])
  const administration = activity('a', { featureType: 'administration' })
  expect(errorOf(await post([administration]))[1]).toBe('/data/activities/0/featureType')
  const large = activity('large', { changes: { text: 'x'.repeat(activityBytesMax) } })
  const results = await add({
    ...at,
    activities: [
      large,
      activity('twice', { targetEntityId: 'first' }),
      activity('twice', { targetEntityId: 'last' }),
      activity('a'),
    ],
  })
  expect([results.large?.success, results.twice?.success, results.a?.success]).toEqual([false, true, true])
  expect(await get(at)).toMatchObject([{ id: 'a' }, { id: 'twice', targetEntityId: 'last' }])
})

it('[ACT-4] changes only the given members of an activity, and only in the given document', async () => {
  const at = await organization('update-4')
  await add({ ...at, activities: [activity('a', { changes: { n: 1 } }), activity('b')] })
  const [before] = await get({ ...at, activityIds: ['a'] })
  server.clock.advance(5)
  const update = (documentId: string, activities: object[]) =>
    server.call<ItemResults>('/v2/activities/update', { ...at, documentId, activities })
  const results = await update('d1', [
    { id: 'a', actionUser: { userId: 'bob' }, targetEntityId: 't' },
    { id: 'b', featureType: 'custom' },
    { id: 'none', actionType: 'x' },
  ])
  expect([results.a?.success, results.b?.success, results.none?.success]).toEqual([true, false, false])
  expect(await get({ ...at, activityIds: ['a'] })).toEqual([
    { ...before, actionUser: { userId: 'bob' }, targetEntityId: 't' },
  ])
  expect(idsOf(await get({ ...at, userId: 'bob', targetEntityId: 't' }))).toEqual(['a'])
  expect(idsOf(await get({ ...at, userId: 'ann' }))).toEqual(['b'])
  expect((await update('d2', [{ id: 'a', actionType: 'x' }])).a?.success).toBe(false)
})

it('[ACT-5] deletes the given activities of a document, and leaves no record of them', async () => {
  const at = await organization('delete-5')
  const scope = scopeOf(server.credentials, 'delete-5')
  const entries = () => server.directory.store.read(scope).scan({ limit: 1000 })
  const before = await entries()
  await add({ ...at, activities: [activity('a', { targetEntityId: 't' }), activity('b'), activity('c')] })
  const remove = (data: object) => server.post('/v2/activities/delete', { ...at, documentId: 'd1', ...data })
  const wrong = (await remove({ documentId: 'd2', activityIds: ['a'] })).body.result?.data as ItemResults
  expect(wrong.a?.success).toBe(false)
  const { body } = await remove({ activityIds: ['a', 'none', 'a'], activities: [{ id: 'b' }] })
  const results = body.result?.data as ItemResults
  expect([results.a?.success, results.b?.success, results.none?.success]).toEqual([true, true, false])
  expect(idsOf(await get({ ...at, userId: 'ann' }))).toEqual(['c'])
  await remove({ activityIds: ['c'] })
  expect(await entries()).toEqual(before)
  expect(errorOf(await remove({}))).toEqual(['INVALID_ARGUMENT', '/data/activityIds'])
})

it('[ACT-6] lists activities by time in both orders, and keeps the order of the activities that one call adds', async () => {
  const at = await organization('order-6')
  await add({ ...at, activities: [activity('z'), activity('a')] })
  server.clock.advance(1)
  await add({ ...at, activities: [activity('m')] })
  expect(idsOf(await get(at))).toEqual(['m', 'a', 'z'])
  expect(idsOf(await get({ ...at, order: 'asc' }))).toEqual(['z', 'a', 'm'])
  expect(idsOf(await get({ ...at, activityIds: ['m', 'z', 'none', 'z'], order: 'asc' }))).toEqual(['z', 'm'])
  expect(errorOf(await server.post('/v2/activities/get', { ...at, pageSize: 0 }))[1]).toBe('/data/pageSize')
  expect(errorOf(await server.post('/v2/activities/get', { ...at, order: 'up' }))[1]).toBe('/data/order')
})

it('[ACT-7] encrypts a page token, and accepts it only for the query that returned it', async () => {
  const at = await organization('token-7')
  const ann = { userId: 'ann' }
  await add({ ...at, activities: ['a', 'b', 'c'].map((id) => activity(id)) })
  const { data, pageToken = '' } = await page({ ...at, pageSize: 1, ...ann })
  expect(idsOf(data)).toEqual(['c'])
  expect(Buffer.from(pageToken, 'base64url').toString('latin1')).not.toContain('c"')
  const next = await page({ ...at, pageSize: 2, pageToken, ...ann })
  expect([idsOf(next.data), next.pageToken]).toEqual([['b', 'a'], undefined])
  const damaged = pageToken.replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A'))
  for (const other of [
    { pageToken: damaged },
    { pageToken, order: 'asc' },
    { pageToken, documentId: 'd1' },
    { pageToken, targetEntityId: 'd1' },
    { pageToken, userId: 'bob' },
    { pageToken, featureTypes: ['crdt'] },
    { pageToken, actionTypes: ['crdt'] },
    { pageToken, activityIds: ['a'] },
    { pageToken, organizationId: 'acme' },
  ])
    expect(errorOf(await server.post('/v2/activities/get', { ...at, ...ann, ...other }))).toEqual([
      'INVALID_ARGUMENT',
    ])
})

it('[API-50] accepts every well-formed id for activities, documents, users and targets', async () => {
  const { organizationId } = await organization('odd-8')
  const scope = scopeOf(server.credentials, organizationId)
  for (const id of oddIds) {
    await server.directory.documents.add(scope, [{ documentId: id }], { createFolder: false })
    const odd = { ...activity(id, { targetEntityId: id }), actionUser: { userId: id } }
    const results = await add({ organizationId, documentId: id, activities: [odd] })
    expect(Object.keys(results)).toEqual([id])
    const filters = { documentId: id, userId: id, targetEntityId: id, activityIds: [id] }
    for (const [name, value] of Object.entries(filters))
      expect(idsOf(await get({ organizationId, [name]: value }))).toEqual([id])
  }
  expect(idsOf(await get({ organizationId, order: 'asc' })).toSorted()).toEqual(oddIds.toSorted())
})

const people = ['ann', 'bob', 'cy']
const any = <T>(values: readonly T[]) => fc.constantFrom(...values)
const perhaps = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const rows = fc.record({
  documentId: any(['d1', 'd2', 'd3']),
  userId: any(people),
  targetEntityId: perhaps(any(['t1', 't2'])),
  featureType: any(['comment', 'reaction', 'crdt'] as const),
  actionType: any(['x.add', 'x.update', 'x.delete']),
  wait: fc.nat({ max: 2 }),
})
const filters = fc.record(
  {
    documentId: any(['d1', 'd2', 'd3']),
    userId: any(people),
    targetEntityId: any(['t1', 't2']),
    featureTypes: fc.subarray(['comment', 'reaction', 'crdt'] as const, { minLength: 1 }),
    actionTypes: fc.subarray(['x.add', 'x.update', 'x.delete'], { minLength: 1 }),
  },
  { requiredKeys: [] },
)
type Made = { id: string } & typeof rows extends fc.Arbitrary<infer R> ? R & { id: string } : never

it('[ACT-9] with any filters, returns each matching activity once while other activities are added and deleted', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(rows, { minLength: 1, maxLength: 60 }),
      fc.array(fc.tuple(rows, fc.nat()), { maxLength: 10 }),
      filters,
      any(['asc', 'desc'] as const),
      fc.integer({ min: 1, max: 12 }),
      async (initial, changes, query, order, limit) => {
        const directory = await openDirectory()
        const scope = scopeOf(tenant, 'acme')
        await directory.organizations.ensure(scope)
        const documents = ['d1', 'd2', 'd3'].map((documentId) => ({ documentId }))
        await directory.documents.add(scope, documents, { createFolder: false })
        let number = 0
        const put = async ({ documentId, userId, wait, ...row }: (typeof initial)[number]): Promise<Made> => {
          directory.clock.advance(wait)
          // Ids without an order, so that activities of one millisecond are not in the order of their
          // creation.
          const id = `${(number++ * 7919) % 1009}`
          const { targetEntityId, ...more } = row
          const target = targetEntityId === undefined ? {} : { targetEntityId }
          await directory.activities.add(scope, documentId, [
            { id, actionUser: { userId }, ...more, ...target },
          ])
          return { id, documentId, userId, wait, ...row }
        }
        const listed = async (after: string | undefined) =>
          directory.activities.list(scope, query, { order, after, limit })
        const suits = (row: Made): boolean =>
          (query.documentId ?? row.documentId) === row.documentId &&
          (query.userId ?? row.userId) === row.userId &&
          (query.targetEntityId ?? row.targetEntityId) === row.targetEntityId &&
          (query.featureTypes?.includes(row.featureType) ?? true) &&
          (query.actionTypes?.includes(row.actionType) ?? true)

        const there: Made[] = []
        for (const row of initial) there.push(await put(row))
        const waiting = [...changes]
        const added: Made[] = []
        const deleted = new Set<string>()
        const seen: string[] = []
        let times: number[] = []
        for (let after: string | null | undefined; after !== null; ) {
          const { items, next } = await listed(after)
          expect(items.length).toBeLessThanOrEqual(limit)
          // The activities of creating the organization have no user.
          seen.push(
            ...items.filter(({ actionUser }) => people.includes(actionUser.userId)).map(({ id }) => id),
          )
          times = times.concat(items.map(({ timestamp }) => timestamp))
          after = next
          const change = waiting.pop()
          if (change === undefined) continue
          added.push(await put(change[0]))
          const victim = there[change[1] % there.length] as Made
          await directory.activities.remove(scope, victim.documentId, [victim.id])
          deleted.add(victim.id)
        }
        const must = there.filter((row) => suits(row) && !deleted.has(row.id)).map(({ id }) => id)
        const may = new Set([...there, ...added].filter(suits).map(({ id }) => id))
        expect(new Set(seen).size).toBe(seen.length)
        expect(must.filter((id) => !seen.includes(id))).toEqual([])
        expect(seen.filter((id) => !may.has(id))).toEqual([])
        expect(times).toEqual(times.toSorted((a, b) => (order === 'asc' ? a - b : b - a)))
        await directory.close()
      },
    ),
    { numRuns: 60 },
  )
})

it('[ACT-15] stores the activity of a REST change in the same commit as the change', async () => {
  const organizationId = 'rest-15'
  const documentId = 'plan'
  const call = (path: string, data: object) => server.call(path, { organizationId, ...data })
  await server.call('/v2/organizations/add', { organizations: [{ organizationId }] })
  await call('/v1/organizations/folders/add', { folders: [{ folderId: 'box' }] })
  await call('/v2/organizations/documents/add', { documents: [{ documentId }] })
  await call('/v2/organizations/documents/update', { documents: [{ documentId, documentName: 'Plan' }] })
  await call('/v2/organizations/documents/update', { documents: [{ documentId, documentName: 'Plan' }] })
  await call('/v2/organizations/documents/update', { documents: [{ documentId: 'none', documentName: 'x' }] })
  await call('/v2/users/add', { users: [{ userId: 'ann' }] })
  await call('/v2/users/add', { documentId, users: [{ userId: 'ann', accessRole: 'viewer' }] })
  await call('/v1/organizations/usergroups/users/add', { organizationUserGroupId: 'all', userIds: ['ann'] })
  await call('/v2/users/delete', { userIds: ['ann'] })
  const query = { organizationId, order: 'asc' }
  const listed = async () =>
    (await page(query)).data.map(({ actionType, targetEntityId, metadata }) => [
      actionType,
      targetEntityId,
      metadata.documentId,
    ])
  const before = [
    ['organization.add', organizationId, undefined],
    ['folder.add', 'box', undefined],
    ['document.add', documentId, documentId],
    ['document.update', documentId, documentId],
    ['user.add', 'ann', undefined],
    ['permission.add', documentId, documentId],
    ['group.add', 'all', undefined],
    ['group.user_add', 'all', undefined],
    ['user.delete', 'ann', undefined],
  ]
  const ofType = async (featureType: string) =>
    (await page({ ...query, featureTypes: [featureType] })).data.map(({ actionType }) => actionType)
  expect(await ofType('administration')).toHaveLength(before.length)
  expect(await ofType('custom')).toEqual([])
  // Activities of one millisecond are in the order of their generated ids.
  expect((await listed()).toSorted()).toEqual(before.toSorted())
  await call('/v2/organizations/documents/delete', { documentIds: [documentId] })
  const left = before.filter(([, , document]) => document === undefined)
  expect((await listed()).toSorted()).toEqual(
    [...left, ['document.delete', documentId, undefined]].toSorted(),
  )
  const { data } = await page({ ...query, userId: server.credentials.apiKey, targetEntityId: documentId })
  expect(data.map(({ actionType }) => actionType)).toEqual(['document.delete'])
})
