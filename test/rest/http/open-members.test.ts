import { afterAll, beforeAll, expect, it } from 'vitest'
import { operationList } from '../../../src/capabilities/list.ts'
import { hasOpenMembers } from '../../../src/rest/open-members.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
  const organizations = [{ organizationId: 'acme' }]
  dataOf(await server.post('/v2/organizations/add', { organizations }))
  const documents = [{ documentId: 'd' }]
  dataOf(await server.post('/v2/organizations/documents/add', { organizationId: 'acme', documents }))
})
afterAll(() => server.stop())

const document = { organizationId: 'acme', documentId: 'd' }
const more = { photoUrl: 'https://example.com/ann.png', plan: { name: 'pro', seats: [1, 2] } }
const ann = { userId: 'ann', name: 'Ann', ...more }
/** A user with a misspelled name. */
const misspelled = { userId: 'bob', nmae: 'Bob' }

/** Sends a call that must succeed for each item. Returns the warnings. */
async function send(path: string, data: object): Promise<readonly string[]> {
  const { body } = await server.post(path, data)
  expect(body.error).toBeUndefined()
  expect(JSON.stringify(body.result?.data)).not.toContain('"success":false')
  return (body.result as { readonly warnings?: readonly string[] }).warnings ?? []
}
const read = async (path: string, data: object = document): Promise<unknown> =>
  dataOf(await server.post(path, data))

it('[API-63] users/add and update keep other members, and null removes one', async () => {
  const scope = { organizationId: 'acme' }
  expect(await send('/v2/users/add', { ...scope, users: [ann, misspelled] })).toEqual([
    'kept /data/users/*/nmae, which has no meaning for Weft; did you mean name?',
  ])
  const users = () => read('/v2/users/get', { ...scope, userIds: ['ann', 'bob'] })
  expect(await users()).toMatchObject([ann, { ...misspelled, name: '' }])
  await send('/v2/users/update', { ...scope, users: [{ userId: 'ann', team: 'blue', plan: null }] })
  const [changed] = (await users()) as readonly object[]
  expect(changed).toMatchObject({ userId: 'ann', name: 'Ann', photoUrl: more.photoUrl, team: 'blue' })
  expect(changed).not.toHaveProperty('plan')
})

it('[API-63] documents/add and update keep other members, in both versions', async () => {
  const scope = { organizationId: 'acme' }
  const given = { documentId: 'kept', metadata: { pages: 3 }, kind: 'plan', owner: { team: 'blue' } }
  expect(await send('/v2/organizations/documents/add', { ...scope, documents: [given] })).toEqual([])
  const renamed = [{ documentId: 'kept', documentNmae: 'Plan', metadata: { pages: 4 } }]
  expect(await send('/v1/organizations/documents/update', { ...scope, documents: renamed })).toEqual([
    'kept /data/documents/*/documentNmae, which has no meaning for Weft; did you mean documentName?',
  ])
  const others = { kind: 'plan', owner: { team: 'blue' }, documentNmae: 'Plan' }
  const query = { ...scope, documentIds: ['kept'] }
  expect(await read('/v2/organizations/documents/get', query)).toMatchObject([
    { id: 'kept', documentName: '', metadata: { pages: 4 }, ...others },
  ])
  expect(await read('/v1/organizations/documents/get', query)).toMatchObject([others])
})

it('[API-63] notifications, comments, activities and presence keep other members of users and locations', async () => {
  const location = { id: 'page-1', locationName: 'Page 1', zoom: 2 }
  const notification = {
    ...document,
    notificationId: 'n',
    actionUser: ann,
    displayHeadlineMessageTemplate: '{actionUser}',
    displayBodyMessage: 'x',
    notifyUsers: [misspelled],
    notifyAll: false,
  }
  expect(await send('/v1/notifications/add', notification)).toEqual([
    'kept /data/notifyUsers/*/nmae, which has no meaning for Weft; did you mean name?',
  ])
  expect(await read('/v2/notifications/get')).toMatchObject([{ actionUser: ann, notifyUsers: [misspelled] }])
  const comments = [{ commentId: 'c', from: ann, text: 'x' }]
  const annotations = [{ annotationId: 'a', location, assignedTo: ann, comments }]
  await send('/v2/commentannotations/add', { ...document, actionUser: ann, annotations })
  const reaction = { annotationId: 'a', commentId: 'c', actionUser: ann, reactions: [{ reaction: 'ok' }] }
  await send('/v2/commentannotations/comments/reactions/add', { ...document, ...reaction })
  expect(await read('/v2/commentannotations/get')).toMatchObject([
    { location, assignedTo: ann, createdBy: ann, comments: [{ from: ann, reactions: [{ user: ann }] }] },
  ])
  const activity = { id: 'act', featureType: 'comment', actionType: 'x', actionUser: ann, location }
  await send('/v2/activities/add', { ...document, activities: [activity] })
  const activities = { ...document, activityIds: ['act'] }
  expect(await read('/v2/activities/get', activities)).toMatchObject([{ actionUser: ann, location }])
  await send('/v2/presence/add', { ...document, users: [ann] })
  await send('/v2/presence/update', { ...document, users: [{ userId: 'ann', status: 'away' }] })
  expect(await read('/v2/presence/get')).toMatchObject([{ ...ann, status: 'away', source: 'rest' }])
})

it('[API-64] rejects other members of more than 4,096 bytes together, also after an update', async () => {
  const scope = { organizationId: 'acme' }
  const result = async (path: string, user: object) =>
    ((await read(path, { ...scope, users: [{ userId: 'eve' }, user] })) as Record<string, unknown>).large
  const large = { userId: 'large', one: 'x'.repeat(3_000) }
  expect(await result('/v2/users/add', { ...large, two: 'x'.repeat(1_500) })).toMatchObject({
    success: false,
    details: { code: 'request/invalid-member', issues: [{ path: '/data/users/1' }] },
  })
  expect(await result('/v2/users/add', large)).toMatchObject({ success: true })
  const update = { userId: 'large', two: 'x'.repeat(3_000) }
  expect(await result('/v2/users/add', update)).toMatchObject({ success: false })
  expect(await result('/v2/users/add', { ...update, one: null })).toMatchObject({ success: true })
  const actionUser = { userId: 'ann', one: 'x'.repeat(4_097) }
  const annotations = [{ annotationId: 'large' }]
  const { body } = await server.post('/v2/commentannotations/add', { ...document, actionUser, annotations })
  expect(body.error?.message).toBe(
    '/data/actionUser must have at most 4096 bytes of JSON in members that are not listed',
  )
})

it('[API-65] rejects a misspelled member that decides about access or names something, and names of responses', async () => {
  const scope = { organizationId: 'acme' }
  const messages = async (path: string, list: string, item: object): Promise<unknown> => {
    const { body } = await server.post(path, { ...scope, [list]: [item] })
    return body.error?.message
  }
  const users = (item: object) => messages('/v2/users/add', 'users', item)
  expect(await users({ userId: 'x', acessRole: 'viewer' })).toBe(
    '/data/users/0/acessRole is unknown (did you mean accessRole?)',
  )
  expect(await users({ userID: 'x' })).toBe('/data/users/0/userID is unknown (did you mean userId?)')
  expect(await users({ userId: 'x', createdAt: 1 })).toBe('/data/users/0/createdAt is unknown; remove it')
  const documents = (item: object) => messages('/v2/organizations/documents/add', 'documents', item)
  expect(await documents({ documentId: 'x', accessTpye: 'restricted' })).toBe(
    '/data/documents/0/accessTpye is unknown (did you mean accessType?)',
  )
  expect(await documents({ documentId: 'x', disabled: true })).toBe(
    '/data/documents/0/disabled is unknown; remove it',
  )
})

it('[API-63] the warnings of each operation with open members are described', async () => {
  const open = operationList.filter(({ request }) => hasOpenMembers(request)).map(({ path }) => path)
  expect(open.length).toBeGreaterThan(12)
  const response = await fetch(`${server.url}/openapi.json`)
  const { paths } = (await response.json()) as { readonly paths: Readonly<Record<string, unknown>> }
  for (const path of open) expect(JSON.stringify(paths[path]), path).toContain('"warnings"')
})
