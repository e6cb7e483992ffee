import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operationList } from '../../../src/capabilities/list.ts'
import { exampleOf } from '../../../src/rest/openapi/examples.ts'
import type { Operation } from '../../../src/rest/operation.ts'
import { callWithKey, fittingData } from '../../support/data/idempotency.ts'
import { type ExampleServer, startExampleServer } from '../../support/data/openapi-example-data.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

interface Result {
  readonly success: boolean
  readonly message: string
  readonly details?: { readonly code: string; readonly issues?: readonly { readonly path: string }[] }
}
type Results = Readonly<Record<string, Result>>
interface Answered {
  readonly result: { readonly message: string; readonly data: Results }
}

let example: ExampleServer
let lenient: TestServer
beforeAll(async () => {
  example = await startExampleServer()
  lenient = await startTestServer({ unknownMembers: 'ignore' })
})
afterAll(async () => {
  await example?.server.stop()
  await lenient?.stop()
})

/** Whether a response has `success` for each item by id. */
const isKeyed = ({ response }: Operation): boolean =>
  response?.type === 'object' &&
  response.properties === undefined &&
  response.additionalProperties.type === 'object' &&
  response.additionalProperties.properties?.success !== undefined

const keyed = operationList.filter(isKeyed)

async function resultsOf(path: string, data: object): Promise<Results> {
  const { status, text } = await callWithKey(example, path, data)
  expect([path, status, text]).toEqual([path, 200, text])
  return (JSON.parse(text) as { result: { data: Results } }).result.data
}

/** Lists of items in a request, with the member that is the id of an item; null: the items are ids. */
type ListOfEntries = readonly [list: string, id: string | null]

function listsOf({ request }: Operation): readonly ListOfEntries[] {
  const ids: Readonly<Record<string, string>> = {
    users: 'userId',
    folders: 'folderId',
    documents: 'documentId',
    organizations: 'organizationId',
    organizationUserGroups: 'groupId',
    annotations: 'annotationId',
    comments: 'commentId',
    reactions: 'reactionId',
    activities: 'id',
    notifications: 'id',
  }
  return Object.entries(request.properties).flatMap(([list, schema]): ListOfEntries[] => {
    if (schema.type !== 'array') return []
    if (schema.items.type === 'string') return [[list, null]]
    return ids[list] === undefined ? [] : [[list, ids[list]]]
  })
}

it('[COMPAT-8] returns one result for each item in every operation for which the specification defines such results', () => {
  expect(keyed.length).toBeGreaterThan(25)
  expect(keyed.filter(({ batch }) => batch === undefined).map(({ path }) => path)).toEqual([])
  expect(operationList.filter(({ batch }) => batch !== undefined).length).toBe(keyed.length)
})

/** Operations whose examples name something that the example data does not have. */
const absent = ['/v1/organizations/usergroups/users/delete', '/v2/memory/judgments/delete']

describe.each(keyed.map((operation) => [operation.path, operation] as const))('%s', (path, operation) => {
  // The documents of `config/set` have no results of their own.
  const lists = listsOf(operation).filter(
    ([list]) => path !== '/v2/notifications/config/set' || list === 'userIds',
  )

  it('[COMPAT-8] when an entry is invalid, rejects this entry, and processes the other entries', async () => {
    const isAbsent = absent.includes(path)
    for (const [list, id] of lists) {
      // Users and documents keep other members, except those that only responses have.
      const schema = operation.request.properties[list]
      const isOpen = schema?.type === 'array' && 'x-reserved' in schema.items
      const data = (await fittingData(example, operation)) as Record<string, unknown[]>
      const [good] = data[list] ?? ['signed-off']
      const entry = id === null || typeof good === 'string' ? { id: good } : (good as object)
      const bad: readonly (readonly [string, unknown])[] =
        id === null
          ? [
              ['..', '..'],
              ['x'.repeat(600), 'x'.repeat(600)],
              [`/data/${list}/3`, 5],
            ]
          : [
              ['bad-1', { ...entry, [id]: 'bad-1', [isOpen ? 'createdAt' : 'zzzzzz']: 1 }],
              ['bad-2', { ...entry, [id]: 'bad-2', [isOpen ? 'lastUpdated' : `${id}s`]: 1 }],
              [`/data/${list}/3`, { ...entry, [id]: 5 }],
              [`/data/${list}/4`, 'text'],
              ['..', { ...entry, [id]: '..' }],
            ]
      // An operation that adds needs an id that is not used.
      const first = id === null ? good : path.endsWith('/add') ? { ...entry, [id]: 'fresh' } : entry
      const sent = { ...data, [list]: [first, ...bad.map(([, item]) => item)] }
      const results = await resultsOf(path, sent)
      for (const [name] of bad)
        expect({ [name]: results[name] }).toMatchObject({
          [name]: {
            success: false,
            message: expect.stringMatching(/./),
            details: {
              code: name.startsWith('bad') ? 'request/unknown-member' : 'request/invalid-member',
              issues: [{ path: expect.stringContaining(`/data/${list}/`) }],
            },
          },
        })
      if (id !== null && !isOpen) expect(results['bad-2']?.message).toContain(`(did you mean ${id}?)`)
      const others = Object.entries(results).filter(([name]) => !bad.some(([each]) => each === name))
      expect(others).toEqual([[expect.anything(), expect.objectContaining({ success: !isAbsent })]])
    }
    expect(lists.length).toBeGreaterThan(0)
  })

  it('[API-60] if an id is listed twice, uses only the last entry, even if earlier entries and other entries are invalid', async () => {
    for (const [list, id] of lists) {
      const data = (await fittingData(example, operation)) as Record<string, unknown[]>
      const [good] = data[list] ?? ['signed-off']
      const entry = id !== null && typeof good === 'string' ? { [id]: good } : good
      // An operation that adds needs an id that is not used.
      const last = id !== null && path.endsWith('/add') ? { ...(entry as object), [id]: 'last' } : entry
      const before = id === null ? last : { ...(last as object), zzzzzz: 1 }
      const { text } = await callWithKey(example, path, { ...data, [list]: [before, last, last, 5] })
      const { message, data: results } = (JSON.parse(text) as Answered).result
      const expected = { success: !absent.includes(path) }
      expect(Object.values(results)).toEqual([
        expect.objectContaining({ success: false }),
        expect.objectContaining(expected),
      ])
      expect(message).toMatch(
        / 1 entry is not valid\. [23] entries have no effect: the last entry of an id counts\.$/,
      )
    }
  })

  it('[COMPAT-8] rejects the whole call if its data has an unknown member beside the list of entries', async () => {
    const data = exampleOf(operation.request, 'request') as object
    const { status, text } = await callWithKey(example, path, { ...data, zzzzzz: 1 })
    expect([status, text]).toEqual([400, expect.stringContaining('zzzzzz')])
  })
})

describe('entries', () => {
  const organizationId = 'entries'
  const folders = [{ folderId: 'a', color: 'red' }, { folderId: 'b', folderNaem: 'B' }, { folderId: 'c' }]

  it('[COMPAT-8] with unknownMembers `ignore`, rejects only the entry with a misspelled member', async () => {
    dataOf(await lenient.post('/v2/organizations/add', { organizations: [{ organizationId }] }))
    const answer = await lenient.post('/v1/organizations/folders/add', { organizationId, folders })
    expect(answer.headers.get('x-weft-ignored')).toBe('/data/folders/0/color')
    expect(dataOf(answer)).toMatchObject({
      a: { success: true },
      b: { success: false, message: 'folderNaem is unknown (did you mean folderName?)' },
      c: { success: true },
    })
  })

  it('[COMPAT-8] rejects each entry that has an unknown member, not only the first such entry', async () => {
    const results = await resultsOf('/v2/organizations/add', {
      organizations: ['a', 'b', 'c'].map((id) => ({ organizationId: id, ...(id !== 'c' && { nmae: 'x' }) })),
    })
    expect(results).toMatchObject({ a: { success: false }, b: { success: false }, c: { success: true } })
  })

  it('[API-60] if an id is listed several times, adds its last entry, or adds nothing for this id if the last entry is invalid', async () => {
    const organizations = [
      { organizationId: 'twice', organizationName: 5 },
      { organizationId: 'twice', organizationName: 'First' },
      { organizationId: 'twice', organizationName: 'Last' },
      { organizationId: 'broken' },
      { organizationId: 'broken', organizationName: 5 },
    ]
    const results = await resultsOf('/v2/organizations/add', { organizations })
    expect(results).toMatchObject({ twice: { success: true }, broken: { success: false } })
    const found = await callWithKey(example, '/v2/organizations/get', {
      organizationIds: ['twice', 'broken'],
    })
    expect(JSON.parse(found.text)).toMatchObject({
      result: { data: [{ id: 'twice', organizationName: 'Last' }] },
    })
  })

  it('[API-60] rejects a call when the last entry of every id is invalid', async () => {
    const organizations = [{ organizationId: 'never' }, { organizationId: 'never', organizationName: 5 }]
    const { status } = await callWithKey(example, '/v2/organizations/add', { organizations })
    expect(status).toBe(400)
  })

  it('[API-60] treats entries without an id as separate entries, and replaces no other entry by them', async () => {
    await fittingData(example, keyed[0] as Operation)
    const activity = { featureType: 'recorder', actionType: 'recorder.done', actionUser: { userId: 'ann' } }
    const activities = [{ ...activity, id: '/data/activities/1' }, activity, activity]
    const at = { organizationId: 'acme', documentId: 'report' }
    const results = await resultsOf('/v2/activities/add', { ...at, activities })
    expect(Object.values(results).map(({ success }) => success)).toEqual([true, true, true])
  })

  it('[COMPAT-8] states the number of invalid entries in the message of the response', async () => {
    const organizations = [{ organizationId: 'counted' }, { organizationId: 5 }, 5]
    const { text } = await callWithKey(example, '/v2/organizations/add', { organizations })
    expect(JSON.parse(text)).toMatchObject({
      result: { message: '1 of 1 organizations added. 2 entries are not valid.' },
    })
  })
})

it('[ERR-10] states the error code of the cause in each failed result of a batch', async () => {
  await fittingData(example, keyed[0] as Operation)
  const organizationId = 'acme'
  const actionUser = { userId: 'ann' }
  const document = { organizationId, documentId: 'report' }
  const comment = { ...document, actionUser, annotationId: 'remark-1' }
  const reacting = { ...comment, commentId: 'comment-1' }
  const organization = (id: string) => ({ organizations: [{ organizationId: id }] })
  const documents = (...given: readonly object[]) => ({ organizationId, documents: given })
  const folders = (...given: readonly object[]) => ({ organizationId, folders: given })
  const users = (documentId?: string) => ({
    organizationId,
    ...(documentId !== undefined && { documentId }),
    users: [{ userId: documentId === undefined ? 'nobody' : 'ann', accessRole: 'viewer' }],
  })
  const cases: readonly (readonly [string, object, string])[] = [
    ['/v2/organizations/add', organization('acme'), 'organization/exists'],
    ['/v2/organizations/update', organization('absent'), 'organization/not-found'],
    ['/v2/organizations/delete', { organizationIds: ['absent'] }, 'organization/not-found'],
    ['/v2/organizations/documents/add', documents({ documentId: 'report' }), 'document/exists'],
    ['/v2/organizations/documents/add', documents({ documentId: 'd', folderId: 'f' }), 'folder/not-found'],
    ['/v2/organizations/documents/update', documents({ documentId: 'absent' }), 'document/not-found'],
    ['/v1/organizations/folders/add', folders({ folderId: 'reports' }), 'folder/exists'],
    ['/v1/organizations/folders/add', folders({ folderId: 'root' }), 'folder/root'],
    ['/v1/organizations/folders/update', folders({ folderId: 'absent' }), 'folder/not-found'],
    [
      '/v1/organizations/folders/update',
      folders({ folderId: 'reports', parentFolderId: 'reports' }),
      'folder/below-itself',
    ],
    ['/v2/users/update', users(), 'user/not-found'],
    ['/v2/users/update', users('report'), 'user/not-found'],
    ['/v2/users/delete', { organizationId, userIds: ['nobody'] }, 'user/not-found'],
    ['/v2/organizations/usergroups/delete', { organizationId, groupIds: ['absent'] }, 'group/not-found'],
    [
      '/v1/organizations/usergroups/users/delete',
      { organizationId, organizationUserGroupId: 'design', userIds: ['nobody'] },
      'group/user-not-found',
    ],
    ['/v2/activities/delete', { ...document, activityIds: ['absent'] }, 'activity/not-found'],
    [
      '/v2/notifications/update',
      { organizationId, notifications: [{ id: 'shared-1', readByUserIds: ['nobody'] }] },
      'notification/not-addressed',
    ],
    ['/v2/notifications/delete', { organizationId, notificationIds: ['absent'] }, 'notification/not-found'],
    ['/v2/memory/judgments/delete', { judgmentIds: ['absent'] }, 'memory/judgment-not-found'],
    [
      '/v2/commentannotations/add',
      { ...document, actionUser, annotations: [{ annotationId: 'remark-1' }] },
      'comment/annotation-id-taken',
    ],
    [
      '/v2/commentannotations/add',
      {
        ...document,
        actionUser,
        annotations: ['twice'].map((annotationId) => ({
          annotationId,
          comments: [1, 2].map(() => ({ commentId: 'same', from: actionUser, text: 'x' })),
        })),
      },
      'request/repeated-item',
    ],
    [
      '/v2/commentannotations/delete',
      { ...document, actionUser, annotationIds: ['absent'] },
      'comment/annotation-not-found',
    ],
    [
      '/v2/commentannotations/comments/add',
      { ...comment, comments: [{ commentId: 'comment-1', from: actionUser, text: 'x' }] },
      'comment/id-taken',
    ],
    ['/v2/commentannotations/comments/delete', { ...comment, commentIds: ['absent'] }, 'comment/not-found'],
    [
      '/v2/commentannotations/comments/reactions/add',
      { ...reacting, reactions: [{ reactionId: 'reaction-1', reaction: 'x' }] },
      'comment/reaction-exists',
    ],
    [
      '/v2/commentannotations/comments/reactions/delete',
      { ...reacting, reactionIds: ['absent'] },
      'comment/reaction-not-found',
    ],
  ]
  for (const [path, data, code] of cases)
    for (const result of Object.values(await resultsOf(path, data)))
      expect([path, result]).toMatchObject([path, { success: false, details: { code } }])
})
