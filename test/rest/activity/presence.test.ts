import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { TenantStore } from '../../../src/core/directory/tenants/tenant-store.ts'
import type { PresenceEntry } from '../../../src/core/rooms/presence/presence-entry.ts'
import { RawClient } from '../../support/clients/clients.ts'
import { errorOf, oddIds, type PeopleServer, startPeopleServer } from '../../support/servers/acme-server.ts'

let server: PeopleServer
let documents = 0

beforeAll(async () => {
  server = await startPeopleServer()
})

afterAll(() => server.stop())

/** Calls for a new document. */
async function newDocument() {
  const documentId = `presence-${++documents}`
  await server.call('/v2/organizations/documents/add', { documents: [{ documentId }] })
  const call = <Data = unknown>(name: string, data: object): Promise<Data> =>
    server.call<Data>(`/v2/presence/${name}`, { documentId, ...data })
  const get = (data: object = {}) => call<readonly PresenceEntry[]>('get', data)
  return { documentId, call, get }
}

const idsOf = (entries: readonly PresenceEntry[]): readonly string[] => entries.map(({ userId }) => userId)

it('[PRES-12] [PRES-28] updates only present users, reports whether a user was present, and accepts the deletion of an absent user', async () => {
  const { call, get } = await newDocument()
  await call('add', { users: [{ userId: 'ann', name: 'Ann', email: 'ann@example.com' }] })
  server.clock.advance(1_000)
  const users = [
    { userId: 'nobody', status: 'away' },
    { userId: 'ann', status: 'away' },
  ]
  expect(await call('update', { users })).toEqual({ success: true })
  expect(await call('update', { users: users.slice(0, 1) })).toEqual({ success: false })
  const ann = { userId: 'ann', name: 'Ann', email: 'ann@example.com', status: 'away', kind: 'user' }
  expect(await get()).toEqual([{ ...ann, source: 'rest', editorIds: [], lastSeen: server.clock.now() }])
  expect(await call('delete', { userIds: ['nobody'] })).toEqual({ success: true })
  expect(await call('delete', { userIds: ['nobody', 'ann'] })).toEqual({ success: true })
  expect(await get()).toEqual([])
})

it('[PRES-13] lists the present users that have one of the given ids and one of the given statuses', async () => {
  const { documentId, call, get } = await newDocument()
  const users = [
    { userId: 'c', status: 'away' },
    { userId: 'a', status: '' },
    { userId: 'b' },
    ...oddIds.map((userId) => ({ userId, status: 'odd' })),
  ]
  await call('add', { users })
  expect(idsOf(await get())).toEqual(idsOf(await get()).toSorted())
  expect(idsOf(await get({ statuses: ['', 'away'] }))).toEqual(['a', 'c'])
  expect(idsOf(await get({ userIds: ['c', 'b', 'x'] }))).toEqual(['b', 'c'])
  expect(idsOf(await get({ userIds: ['c', 'b'], statuses: ['online'] }))).toEqual(['b'])
  expect(await get({ statuses: [] })).toHaveLength(users.length)
  expect(await get({ userIds: [] })).toEqual([])
  expect(idsOf(await get({ userIds: oddIds })).length).toBe(oddIds.length)
  const token = await server.token('dan')
  const client = await RawClient.connect(`${server.wsUrl}/sync/acme/${documentId}/main?token=${token}`)
  await client.roundTrip()
  const dan = { userId: 'dan', name: 'dan', email: 'dan@example.com', source: 'socket', editorIds: ['main'] }
  expect(await get({ statuses: ['online'] })).toMatchObject([{ userId: 'b' }, { ...dan, status: 'online' }])
  client.sendAwareness(1, 1, { user: { status: 'typing' } })
  await client.roundTrip()
  expect(await get({ statuses: ['typing'] })).toMatchObject([dan])
  client.end()
})

it('[PRES-14] rejects presence calls on unknown documents, unless the call creates the documents', async () => {
  const users = [{ userId: 'ann' }]
  for (const [name, data] of [
    ['add', { users }],
    ['update', { users }],
    ['delete', { userIds: ['ann'] }],
    ['get', {}],
  ] as const)
    for (const ids of [{ organizationId: 'none' }, { organizationId: 'acme' }])
      expect(
        errorOf(await server.post(`/v2/presence/${name}`, { documentId: 'none', ...ids, ...data })),
      ).toEqual(['NOT_FOUND'])
  const ids = { organizationId: 'fresh', documentId: 'new' }
  const made = { ...ids, users, createOrganization: true, createDocument: true }
  expect((await server.post('/v2/presence/add', { ...made, createDocument: false })).status).toBe(404)
  expect((await server.post('/v2/presence/add', made)).status).toBe(200)
  expect(idsOf(await server.call('/v2/presence/get', ids))).toEqual(['ann'])
})

it('[PRES-14] separates the presence of two API keys, even if their documents have the same id', async () => {
  const { documentId, call, get } = await newDocument()
  await call('add', { users: [{ userId: 'ann' }] })
  const tenants = new TenantStore(server.engine.kv)
  const { workspaceId } = server.credentials
  const other = { workspaceId, apiKey: 'other-key' }
  await tenants.addApiKey({ id: other.apiKey, workspaceId, apiKeyName: '', type: 'testing', createdAt: 1 })
  await tenants.putAuthToken(other, { token: 'other-token', name: 'default', domains: [], createdAt: 1 })
  const headers = { 'x-service-api-key': other.apiKey, 'x-service-auth-token': 'other-token' }
  const ids = { organizationId: 'acme', documentId }
  expect(errorOf(await server.post('/v2/presence/get', ids, headers))).toEqual(['NOT_FOUND'])
  const made = { ...ids, users: [{ userId: 'bob' }], createOrganization: true, createDocument: true }
  expect((await server.post('/v2/presence/add', made, headers)).status).toBe(200)
  expect(
    (await server.post('/v2/presence/delete', { ...ids, userIds: ['ann'] }, headers)).body,
  ).toMatchObject({
    result: { data: { success: true } },
  })
  expect(idsOf(await get())).toEqual(['ann'])
})

it.each([
  ['add', { users: [{ status: 'away' }] }, '/data/users/0/userId'],
  ['add', { users: [{ userId: 'a', status: 1 }] }, '/data/users/0/status'],
  ['add', { users: [{ userId: 'a', status: 'x'.repeat(201) }] }, '/data/users/0/status'],
  ['add', { users: [{ userId: 'a' }], ttlSeconds: 1 }, '/data/ttlSeconds'],
  ['add', { users: [{ userId: 'a' }], ttlSeconds: 3_600 }, '/data/ttlSeconds'],
  ['add', { users: [{ userId: 'a', kind: 'bot' }] }, '/data/users/0/kind'],
  ['add', { users: [{ userId: 'a', data: { text: 'x'.repeat(1_014) } }] }, '/data/users/0/data'],
  ['add', { users: [{ userId: 'a', color: 'red' }] }, '/data/users/0/color'],
  ['add', { users: [{ userId: 'a', cursor: {} }] }, '/data/users/0/cursor'],
  ['add', { users: [{ userId: 'a', cursor: { end: true, quote: 'x' } }] }, '/data/users/0/cursor'],
  ['update', { users: [{ userId: '..' }] }, '/data/users/0/userId'],
  ['update', {}, '/data/users'],
  ['get', { statuses: 'away' }, '/data/statuses'],
])('[PRES-15] rejects %s %j with INVALID_ARGUMENT', async (name, data, place) => {
  const ids = { organizationId: 'acme', documentId: 'd1' }
  expect(errorOf(await server.post(`/v2/presence/${name}`, { ...ids, ...data }))).toEqual([
    'INVALID_ARGUMENT',
    place,
  ])
})

it('[PRES-16] rejects an add that exceeds the limit of virtual users, but still accepts users who are already present', async () => {
  const { documentId, call, get } = await newDocument()
  const users = Array.from({ length: 500 }, (_, index) => ({ userId: `user-${index}` }))
  await call('add', { users })
  const more = {
    organizationId: 'acme',
    documentId,
    users: [{ userId: 'user-1', status: 'x' }, { userId: 'more' }],
  }
  const refused = await server.post('/v2/presence/add', more)
  expect(errorOf(refused)).toEqual(['FAILED_PRECONDITION'])
  const details = { limit: 'virtualUsersPerDocument', value: 500, scope: 'document' }
  expect(refused.body.error?.details).toEqual({ code: 'presence/too-many-users', ...details })
  expect(await get({ statuses: ['x'] })).toEqual([])
  await call('add', { users: more.users.slice(0, 1) })
  await call('delete', { userIds: ['user-2'] })
  expect(await call('add', more)).toEqual({ success: true })
  expect((await get()).length).toBe(500)
})

it('[COMPAT-7] [PRES-16] when an add would exceed the number of users that the server accepts, creates no organization and no document', async () => {
  const full = await startPeopleServer()
  onTestFinished(() => full.stop())
  const users = Array.from({ length: 500 }, (_, index) => ({ userId: `user-${index}` }))
  const create = { createOrganization: true, createDocument: true }
  const add = (documentId: string, organizationId = 'acme') =>
    full.post('/v2/presence/add', { organizationId, documentId, users, ...create })
  // 100,000 users
  for (let index = 0; index < 200; index += 1) expect((await add(`full-${index}`)).status).toBe(200)
  expect(errorOf(await add('left-over', 'left-over'))).toEqual(['RESOURCE_EXHAUSTED'])
  expect(await full.call('/v2/organizations/get', { organizationIds: ['left-over'] })).toEqual([])
}, 30_000)

it('[PRES-31] [PRES-32] returns the kind and the data of a user, keeps what a call omits, and replaces data as a whole', async () => {
  const { call, get } = await newDocument()
  const largest = { text: 'x'.repeat(1_013) }
  await call('add', {
    users: [{ userId: 'bot', kind: 'agent', data: { task: 'summary', step: 1 } }, { userId: 'ann' }],
  })
  expect(await get()).toMatchObject([
    { userId: 'ann', kind: 'user' },
    { userId: 'bot', kind: 'agent', data: { task: 'summary', step: 1 } },
  ])
  expect((await get())[0]).not.toHaveProperty('data')
  await call('update', { users: [{ userId: 'bot', status: 'writing' }] })
  expect(await get({ userIds: ['bot'] })).toMatchObject([
    { kind: 'agent', data: { task: 'summary', step: 1 } },
  ])
  await call('update', { users: [{ userId: 'bot', data: largest }] })
  expect((await get({ userIds: ['bot'] }))[0]?.data).toEqual(largest)
})

/** Adds content to an editor of a document. */
const write = (documentId: string, editorId: string, data: string, type = 'text'): Promise<unknown> =>
  server.call('/v2/crdt/add', { documentId, editorId, type, data, contentKey: 'content' })

interface CursorEntry {
  readonly cursor?: { readonly position: string; readonly positionEnd: string; readonly place?: unknown }
}

it('[PRES-35] returns the text that a cursor selects, and its place after edits', async () => {
  const { documentId, call, get } = await newDocument()
  await write(documentId, 'main', 'One two three.\nFour five six.\n')
  const cursorOf = async () => (await get({ userIds: ['bot'] }))[0] as CursorEntry
  const move = (cursor: object | null) => call('update', { users: [{ userId: 'bot', cursor }] })
  await call('add', { users: [{ userId: 'bot', cursor: { quote: 'two' } }] })
  const place = { quote: 'two', before: 'One ', after: ' three.' }
  expect(await cursorOf()).toMatchObject({ cursor: { editorId: 'main', contentKey: 'content', place } })
  await server.call('/v2/crdt/edit', {
    documentId,
    editorId: 'main',
    edits: [{ insert: { at: 'start', content: 'Zero ' } }, { replace: { find: 'wo', with: 'wenty' } }],
  })
  expect(await cursorOf()).toMatchObject({ cursor: { place: { quote: 'twenty', before: 'Zero One ' } } })
  await move({ quote: 'three', at: 'end' })
  expect(await cursorOf()).toMatchObject({
    cursor: { place: { quote: '', before: 'Zero One twenty three', after: '.' } },
  })
  await move({ block: 1, at: 'start' })
  expect(await cursorOf()).toMatchObject({ cursor: { place: { quote: '', after: 'Four five six.' } } })
  await move({ end: true })
  expect((await cursorOf()).cursor).toMatchObject({ place: { quote: '' } })
  const { position = '' } = (await cursorOf()).cursor ?? {}
  await move({ quote: 'five' })
  await server.call('/v2/crdt/edit', {
    documentId,
    editorId: 'main',
    edits: [{ remove: { target: 'five' } }],
  })
  expect((await cursorOf()).cursor?.place).toBeNull()
  await move({ anchor: { position } })
  expect((await cursorOf()).cursor).toMatchObject({ position, positionEnd: position, place: { quote: '' } })
  await move(null)
  expect(await cursorOf()).not.toHaveProperty('cursor')
})

it('[PRES-38] accepts a cursor in the row of a table', async () => {
  const { documentId, call, get } = await newDocument()
  await write(
    documentId,
    'main',
    '| A | B |\n| --- | --- |\n| one | 1 |\n| two | 2 |\n| one | 3 |',
    'markdown',
  )
  const placeOf = async (cursor: object) => {
    await call('add', { users: [{ userId: 'bot', cursor }] })
    return ((await get({ userIds: ['bot'] }))[0] as CursorEntry).cursor?.place
  }
  expect(await placeOf({ row: 'two' })).toMatchObject({ quote: 'two\n2' })
  expect(await placeOf({ row: 'one', occurrence: 2 })).toMatchObject({ quote: 'one\n3' })
  expect(await placeOf({ row: '2', at: 'start' })).toMatchObject({ quote: '', after: 'two' })
  expect(await placeOf({ row: '2', at: 'end' })).toMatchObject({ quote: '', before: '2' })
})

it('[PRES-36] rejects a cursor whose place is missing or ambiguous, with candidates, and changes nothing', async () => {
  const { documentId, call, get } = await newDocument()
  await write(documentId, 'main', 'One two.\nOne three.\n')
  await call('add', { users: [{ userId: 'bot', status: 'before' }] })
  const refused = async (cursor: object) => {
    const users = [{ userId: 'ann' }, { userId: 'bot', status: 'after', cursor }]
    const { status, body } = await server.post('/v2/presence/add', {
      organizationId: 'acme',
      documentId,
      users,
    })
    const { message, details } = (body as { error: { message: string; details: Record<string, unknown> } })
      .error
    expect(await get()).toMatchObject([{ userId: 'bot', status: 'before' }])
    return { status, message, code: details.code, candidates: details.candidates }
  }
  expect(await refused({ quote: 'One' })).toMatchObject({
    code: 'crdt/target-ambiguous',
    message: expect.stringMatching(/^users\[1\]\.cursor: the document contains the text "One" 2 times/),
    candidates: [{ after: ' two.' }, { after: ' three.' }],
  })
  expect(await refused({ quote: 'Ono three' })).toMatchObject({
    code: 'crdt/target-not-found',
    candidates: [{ quote: 'three' }],
  })
  expect(await refused({ quote: 'x'.repeat(10_001) })).toMatchObject({
    code: 'request/invalid-member',
    message: '/data/users/1/cursor/quote must NOT have more than 10000 characters',
  })
  expect(await refused({ contentKey: 'other', end: true })).toMatchObject({ code: 'crdt/root-not-found' })
  await write(documentId, 'second', 'Other')
  expect(await refused({ quote: 'One two' })).toMatchObject({
    message: 'the document has several editors; name the editor in cursor.editorId',
  })
})
