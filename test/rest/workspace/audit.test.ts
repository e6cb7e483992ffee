import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { operationList } from '../../../src/capabilities/list.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { auditHeld, failingIn } from '../../support/data/audit.ts'
import { agentToken, callsWith } from '../../support/servers/agents.ts'
import { dataOf, type Envelope, startTestServer, type TestServer } from '../../support/servers/server.ts'

interface Shown {
  readonly auditId: string
  readonly timestamp: number
  readonly operation: string
  readonly actor: string
  readonly outcome: string
  readonly apiKey?: string
  readonly ids: Readonly<Record<string, readonly string[]>>
}

const adminToken = 'an-admin-token-of-the-test'
const user = { userId: 'ann', userProperties: { name: 'Ann', email: 'ann@example.com' } }
let server: TestServer

beforeAll(async () => {
  server = await startTestServer({ adminToken, trustProxy: 1 })
})
afterAll(() => server.stop())

const ofWorkspace = ({ credentials }: TestServer) => ({
  'x-service-workspace-id': credentials.workspaceId,
  'x-service-workspace-auth-token': credentials.workspaceAuthToken,
})
const call = (on: TestServer, query: object, headers = ofWorkspace(on)) =>
  on.post('/v2/workspace/audit/get', query, headers)
const audit = async (query: object = {}, on = server): Promise<readonly Shown[]> =>
  dataOf(await call(on, query)) as Shown[]
const last = async (on = server): Promise<Shown | undefined> => (await audit({ pageSize: 1 }, on))[0]

it('[AUDIT-1] records each answered administrative call with actor, time, address and ids', async () => {
  const before = Date.now()
  const { apiKey } = server.credentials
  const headers = {
    'x-request-id': 'request-7',
    'idempotency-key': 'key-7',
    'x-forwarded-for': '198.51.100.7, 203.0.113.9',
  }
  const users = [
    { userId: 'ann', name: 'Ann' },
    { userId: 'bob', name: 'Bob' },
  ]
  dataOf(await server.post('/v2/organizations/add', { organizations: [{ organizationId: 'acme' }] }))
  dataOf(await server.post('/v2/users/add', { organizationId: 'acme', users }, headers))
  const found = await last()
  expect(found).toEqual({
    auditId: expect.any(String),
    timestamp: expect.any(Number),
    operation: '/v2/users/add',
    actor: 'key',
    apiKey,
    clientAddress: '203.0.113.9',
    requestId: 'request-7',
    outcome: 'success',
    ids: { organizationId: ['acme'], userId: ['ann', 'bob'] },
    idempotencyKeyHash: createHash('sha256').update('key-7').digest('hex').slice(0, 32),
  })
  expect(found?.timestamp).toBeGreaterThanOrEqual(before)
  expect(found?.timestamp).toBeLessThanOrEqual(Date.now())
})

it('[AUDIT-1] records a rejected call with the status of the rejection, but records no unauthenticated or invalid call', async () => {
  const missing = { organizationId: 'acme', documentIds: ['nowhere'] }
  await server.post('/v2/workspace/authtoken/reset', { apiKey: 'no-such-key' }, ofWorkspace(server))
  expect(await last()).toMatchObject({
    operation: '/v2/workspace/authtoken/reset',
    actor: 'workspace',
    outcome: 'NOT_FOUND',
    ids: { apiKey: ['no-such-key'] },
  })
  expect((await server.post('/v2/organizations/documents/delete', missing)).status).not.toBe(500)
  const { length } = await audit()
  expect((await server.post('/v2/users/add', { users: 'none' })).status).toBe(400)
  expect((await server.post('/v2/users/get', { organizationId: 'acme' })).status).toBe(200)
  expect(await audit()).toHaveLength(length)
})

it('[AUDIT-1] records the ids that a call creates; does not record in a workspace log that the operator has created a workspace', async () => {
  const made = dataOf(
    await server.post('/v2/workspace/apikey/create', { type: 'testing' }, ofWorkspace(server)),
  )
  const { apiKey } = made as { apiKey: string }
  expect(await last()).toMatchObject({ operation: '/v2/workspace/apikey/create', ids: { apiKey: [apiKey] } })
  const headers = { 'x-service-admin-token': adminToken }
  dataOf(await server.post('/v2/workspace/create', { ownerEmail: 'ann@example.com' }, headers))
  expect(await audit({ actor: 'operator' })).toHaveLength(
    (await audit({ operation: 'start.workspace_made' })).length + 2,
  )
  expect(await audit({ operation: '/v2/workspace/create' })).toEqual([])
})

it('[AUDIT-1] when a call is repeated with its idempotency key, records it again, and marks the record as replayed', async () => {
  const headers = { ...ofWorkspace(server), 'idempotency-key': 'once-and-again' }
  const reset = () => server.post('/v2/workspace/authtoken/reset', { apiKey: 'gone' }, headers)
  const add = () =>
    server.post('/v2/organizations/add', { organizations: [{ organizationId: 'again' }] }, headers)
  for (const call of [add, add, reset, reset]) await call()
  const found = (await audit({ pageSize: 4 })) as readonly (Shown & { replayed?: true })[]
  expect(found.slice(2).map(({ outcome, replayed }) => [outcome, replayed])).toEqual([
    ['success', true],
    ['success', undefined],
  ])
  expect(found.slice(0, 2).map(({ outcome }) => outcome)).toEqual(['NOT_FOUND', 'NOT_FOUND'])
})

it('[AUDIT-2] defines for every operation whether it is recorded; deletions and changes of rights are always recorded', () => {
  const unseen = operationList.filter(({ effect, audited }) => effect !== 'reads' && audited === 'read')
  expect(unseen.map(({ path }) => path)).toEqual([])
  const forgotten = operationList
    .filter(
      ({ path, auth }) =>
        /\/(delete|remove|reset|rotate|revoke_tokens|generate_token)$/.test(path) || auth === 'operator',
    )
    .filter(({ audited }) => audited !== 'admin')
    .map(({ path }) => path)
  // Presence, and removing a reaction, are not administrative.
  expect(forgotten).toEqual(['/v2/commentannotations/comments/reactions/delete', '/v2/presence/delete'])
})

it.each([
  ['admin', ['/v2/auth/generate_token']],
  ['all', ['/v2/crdt/add', '/v2/auth/generate_token']],
  ['off', []],
] as const)('[AUDIT-2] with `audit` %s, records the operations %j', async (mode, recorded) => {
  const other = await startTestServer({ audit: mode })
  const address = { organizationId: 'acme', documentId: 'd', editorId: 'main' }
  dataOf(await other.post('/v2/crdt/add', { ...address, type: 'text', data: 'Hello' }))
  dataOf(await other.post('/v2/crdt/get', address))
  await other.token('ann')
  const found = (await audit({ order: 'asc' }, other)).map(({ operation }) => operation)
  expect(found.filter((operation) => !operation.startsWith('start'))).toEqual(recorded)
  if (mode === 'off') expect(found).toEqual([])
  await other.stop()
})

it('[AUDIT-6] filters audit records, and lists each record once in pages of any size, in both orders', async () => {
  const other = await startTestServer()
  for (let user = 0; user < 23; user++) await other.token(`user-${user}`)
  await other.post('/v2/workspace/authtokens/get', { apiKey: other.credentials.apiKey }, ofWorkspace(other))
  const all = await audit({ order: 'asc' }, other)
  expect((await audit({}, other)).toReversed()).toEqual(all)
  for (const order of ['asc', 'desc'])
    for (const pageSize of [1, 7, 100])
      expect(await pages(other, { order, pageSize })).toEqual(await audit({ order }, other))
  const operation = '/v2/auth/generate_token'
  expect(await pages(other, { operation, pageSize: 5 })).toHaveLength(23)
  expect((await audit({ actor: 'workspace' }, other)).map(({ operation: of }) => of)).toEqual([
    '/v2/workspace/authtokens/get',
  ])
  const { apiKey } = other.credentials
  const ofKey = await audit({ apiKey }, other)
  expect(ofKey).toHaveLength(
    all.filter(({ apiKey: by, ids }) => by === apiKey || ids.apiKey?.includes(apiKey)).length,
  )
  expect(ofKey.map(({ operation: of }) => of)).toContain('start.auth_token_made')
  expect(await audit({ apiKey: 'another' }, other)).toEqual([])
  const times = all.map(({ timestamp }) => timestamp)
  const [after, before] = [times[5] as number, times.at(-3) as number]
  const within = all.filter(({ timestamp }) => timestamp > after && timestamp < before)
  expect(await audit({ order: 'asc', after, before }, other)).toEqual(within)
  expect(await audit({ after, before }, other)).toEqual(within.toReversed())
  expect(await audit({ after: Number.MAX_SAFE_INTEGER, order: 'asc' }, other)).toEqual([])
  await other.stop()
})

async function pages(on: TestServer, query: object): Promise<readonly Shown[]> {
  const found: Shown[] = []
  for (let pageToken: string | undefined; ; ) {
    const { body } = await call(on, { ...query, ...(pageToken !== undefined && { pageToken }) })
    const { data, ...rest } = body.result as { data: Shown[]; pageToken?: string }
    found.push(...data)
    pageToken = rest.pageToken
    if (pageToken === undefined) return found
  }
}

it('[AUDIT-6] returns only the log of the calling workspace, and accepts a page token only for the query that returned it', async () => {
  const created = await server.post(
    '/v2/workspace/create',
    { ownerEmail: 'eve@example.com' },
    { 'x-service-admin-token': adminToken },
  )
  const { id, authToken } = dataOf(created) as { id: string; authToken: string }
  const eve = { 'x-service-workspace-id': id, 'x-service-workspace-auth-token': authToken }
  expect(dataOf(await call(server, {}, eve))).toEqual([])
  const { body } = await call(server, { pageSize: 1 })
  const { pageToken } = body.result as Envelope['result'] & { pageToken: string }
  expect(dataOf(await call(server, { pageSize: 1, pageToken }))).toHaveLength(1)
  for (const [query, headers] of [
    [{}, eve],
    [{ actor: 'key' }, ofWorkspace(server)],
    [{ order: 'asc' }, ofWorkspace(server)],
  ] as const)
    expect((await call(server, { ...query, pageToken }, headers)).body.error?.status).toBe('INVALID_ARGUMENT')
  expect((await call(server, {}, { ...eve, 'x-service-workspace-auth-token': 'wrong' })).status).toBe(401)
})

it('[AUDIT-10] if a call has more ids than the limit, records only the number of the remaining ids', async () => {
  const organizations = Array.from({ length: 500 }, (_, index) => ({
    organizationId: `o${index}`.padEnd(100, '-'),
  }))
  await server.post('/v2/organizations/delete', {
    organizationIds: organizations.map((each) => each.organizationId),
  })
  const found = (await last()) as Shown & { idsLeftOut: number }
  expect(found.ids.organizationIds?.length).toBe(245)
  expect(found.idsLeftOut).toBe(255)
  const uuids = Array.from({ length: 500 }, (_, index) => String(index).padStart(36, '0'))
  await server.post('/v2/organizations/delete', { organizationIds: uuids })
  expect((await last())?.ids).toEqual({ organizationIds: uuids })
})

it('[AUDIT-12] when the audit record of a call cannot be written, does not run the call, and answers UNAVAILABLE', async () => {
  const { engine, fail } = failingIn('audit', await openMemoryEngine())
  const other = await startTestServer({}, { engine })
  expect((await other.post('/v2/auth/generate_token', user)).status).toBe(200)
  fail()
  const organizations = [{ organizationId: 'unrecorded' }]
  const reset = { apiKey: 'no-such-key' }
  for (const answer of [
    await other.post('/v2/auth/generate_token', user),
    await other.post('/v2/organizations/add', { organizations }),
    await other.post('/v2/workspace/authtoken/reset', reset, ofWorkspace(other)),
  ])
    expect([answer.body.error?.status, answer.body.result]).toEqual(['UNAVAILABLE', undefined])
  expect(dataOf(await other.post('/v2/organizations/get', {}))).toEqual([])
  await other.stop()
})

it.each([
  ['success', '/v2/auth/generate_token', user, 200],
  [
    'refusal',
    '/v2/users/add',
    { organizationId: 'nowhere', users: [{ userId: 'ann' }], createOrganization: false },
    404,
  ],
] as const)(
  '[AUDIT-3] sends no response to %s before the audit record is on disk',
  async (_what, path, data, status) => {
    const { engine, hold, release } = auditHeld(await openMemoryEngine())
    const other = await startTestServer({}, { engine })
    const held = hold()
    let answered = false
    const answer = other.post(path, data).finally(() => {
      answered = true
    })
    await held
    // Takes longer than the call would without the pause.
    for (let call = 0; call < 20; call++) await other.post('/v2/organizations/get', {})
    expect(answered).toBe(false)
    release()
    expect((await answer).status).toBe(status)
    await other.stop()
  },
)

it('[AGT-30] records each change of an agent with its model and its user, and finds the calls of one agent', async () => {
  const place = { organizationId: 'agents', documentId: 'plan', editorId: 'main' }
  dataOf(await server.post('/v2/crdt/add', { ...place, type: 'text', data: 'Hello' }))
  const edits = [{ insert: { at: 'end', content: '!' } }]
  const bot = callsWith(server, await agentToken(server, 'bot', { model: 'm-1', onBehalfOf: 'ann' }))
  const other = callsWith(server, await agentToken(server, 'other'))
  dataOf(await bot('/v2/crdt/edit', { ...place, edits }))
  dataOf(await bot('/v2/crdt/get', place))
  dataOf(await other('/v2/crdt/edit', { ...place, edits }))
  const rejected = await bot('/v2/crdt/edit', { ...place, documentId: 'missing', edits })
  expect(rejected.status).toBe(404)
  const records = await audit({ agentId: 'bot' })
  expect(records).toMatchObject([
    { operation: '/v2/crdt/edit', outcome: 'NOT_FOUND', ids: { documentId: ['missing'] } },
    {
      operation: '/v2/crdt/edit',
      actor: 'agent',
      apiKey: server.credentials.apiKey,
      agent: { id: 'bot', model: 'm-1', onBehalfOf: 'ann' },
      outcome: 'success',
      ids: { documentId: ['plan'] },
    },
  ])
  expect(records).toHaveLength(2)
  const ofAgents = (await audit({ actor: 'agent' })) as readonly { agent?: object }[]
  expect(ofAgents.map(({ agent }) => agent)).toMatchObject([{ id: 'bot' }, { id: 'other' }, { id: 'bot' }])
})
