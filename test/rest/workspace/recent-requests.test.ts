import { afterEach, expect, it } from 'vitest'
import type { Config } from '../../../src/core/config/config.ts'
import { eventually, RawClient } from '../../support/clients/clients.ts'
import { startNodes } from '../../support/servers/node-servers.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { adminToken, otherKey } from '../../support/servers/tenants.ts'

interface Listed {
  readonly id: string
  readonly kind: string
  readonly target: string
  readonly outcome: string
  readonly reason?: string
  readonly times: number
  readonly timestamp: number
  readonly node: string
}

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

async function start(overrides: Partial<Config> = {}): Promise<TestServer> {
  const server = await startTestServer(overrides)
  stops.push(server.stop)
  return server
}

const listed = async (server: TestServer, data: object = {}, headers = {}) =>
  dataOf(await server.post('/v2/requests/get', data, headers)) as readonly Listed[]
const rejected = (server: TestServer, data: object = {}, headers = {}) =>
  listed(server, { onlyRejected: true, ...data }, headers)
const textsOf = (entries: readonly Listed[]) =>
  entries.map(({ target, outcome, reason = '' }) => `${target} ${outcome} ${reason}`.trim())

/** Opens a websocket that the server rejects. */
async function knock(server: TestServer, path: string, token: string | null): Promise<void> {
  const query = token === null ? '' : `?token=${token}`
  await (await RawClient.connect(`${server.wsUrl}/sync/${path}${query}`)).closed
}

it('[AUDIT-13] lists calls with their outcome and rejections with their reason, the latest first, and shows equal ones as one entry', async () => {
  const server = await start()
  const secret = 'content-that-stays-private'
  const content = { organizationId: 'acme', documentId: 'plan', editorId: 'main', type: 'text' }
  dataOf(await server.post('/v2/crdt/add', { ...content, data: secret }))
  await server.post('/v2/crdt/get', { organizationId: 'none', documentId: 'none' })
  const resources = [{ type: 'document', id: 'other', organizationId: 'acme', accessRole: 'editor' }] as const
  const token = await server.token('ada', { resources })
  for (const _ of [1, 2, 3]) await knock(server, 'acme/plan/main', token)
  await knock(server, 'acme/plan/main', `${token}x`)
  const all = await listed(server)
  expect(textsOf(all)).toEqual([
    'acme/plan/main 4401 the token is not signed with a key that this server accepts',
    'acme/plan/main 4404 the user has no role on the document',
    '/v2/auth/generate_token success',
    expect.stringMatching(/^\/v2\/crdt\/get NOT_FOUND ./),
    '/v2/crdt/add success',
  ])
  expect(all.map(({ times }) => times)).toEqual([1, 3, 1, 1, 1])
  expect(all.map(({ timestamp }) => timestamp)).toEqual(
    all.map(({ timestamp }) => timestamp).toSorted((a, b) => b - a),
  )
  expect((await rejected(server, { kind: 'rest' })).map(({ target }) => target)).toEqual(['/v2/crdt/get'])
  for (const hidden of [secret, token, server.credentials.authToken])
    expect(JSON.stringify(await listed(server))).not.toContain(hidden)
})

it('[AUDIT-13] lists the requests of all nodes from any node, in pages', async () => {
  const { servers, stop } = await startNodes(2, {
    workspaceId: 'ws_nodes',
    workspaceAuthToken: 'workspace-token-of-nodes',
    apiKey: 'key_nodes',
    authToken: 'auth-token-of-the-nodes',
    jwtSecret: 'a-secret-that-all-nodes-of-a-cluster-share',
  })
  stops.push(stop)
  const [first, second] = servers as unknown as readonly [TestServer, TestServer]
  for (const [at, organizationId] of ['a', 'b', 'c', 'd', 'e'].entries()) {
    const query = { organizationId, documentId: 'x' }
    await (at % 2 === 0 ? first : second).post(at < 3 ? '/v2/crdt/get' : '/v2/presence/get', query)
  }
  const found: Listed[] = []
  let pageToken: string | undefined
  do {
    const data = { onlyRejected: true, pageSize: 1, ...(pageToken !== undefined && { pageToken }) }
    const { body } = await second.post('/v2/requests/get', data)
    const page = body.result as unknown as { data: Listed[]; pageToken?: string }
    found.push(...page.data)
    ;({ pageToken } = page)
  } while (pageToken !== undefined)
  expect(new Set(found.map(({ id }) => id)).size).toBe(found.length)
  expect(found.reduce((sum, { times }) => sum + times, 0)).toBe(5)
  expect(new Set(found.map(({ node }) => node)).size).toBe(2)
})

it('[AUDIT-14] lists a rejection for the API key that the client stated, or for the first API key if the client stated none that exists', async () => {
  const server = await start()
  const other = await otherKey(server)
  const expired = await server.token('ada')
  await server.post('/v2/auth/revoke_tokens', { userId: 'ada' })
  await knock(server, 'acme/plan/main', expired)
  await knock(server, 'acme/plan/main', `${other.token}x`)
  await knock(server, 'acme/plan/main', null)
  await knock(server, 'acme/plan/main', 'nonsense')
  await server.post('/v2/crdt/get', {}, { 'x-service-auth-token': 'wrong' })
  await server.post('/v2/crdt/get', {}, { ...other.headers, 'x-service-auth-token': 'wrong' })
  await server.post('/v2/crdt/get', {}, { 'x-service-api-key': 'unknown' })
  const reasons = async (headers = {}) =>
    (await rejected(server, {}, headers)).map(({ outcome, reason, times }) => [outcome, reason, times])
  expect(await reasons(other.headers)).toEqual([
    ['UNAUTHENTICATED', expect.any(String), 1],
    ['4401', 'the token is not signed with a key that this server accepts', 1],
  ])
  expect(await reasons()).toEqual([
    ['UNAUTHENTICATED', expect.any(String), 2],
    ['4401', 'the token is not a JWT with an algorithm that this server accepts', 1],
    ['4401', 'a token is required', 1],
    ['4401', 'the token has been revoked', 1],
  ])
})

it('[AUDIT-14] if the server has several workspaces, does not list a rejection of a client that stated no existing API key', async () => {
  const server = await start({ adminToken })
  const operator = { 'x-service-admin-token': adminToken }
  dataOf(await server.post('/v2/workspace/create', { ownerEmail: 'ann@example.com' }, operator))
  await knock(server, 'acme/plan/main', null)
  await server.post('/v2/crdt/get', {}, { 'x-service-api-key': 'unknown' })
  await server.post('/v2/crdt/get', {}, { 'x-service-auth-token': 'wrong' })
  await eventually(async () => (await rejected(server)).length > 0)
  expect((await rejected(server)).map(({ target }) => target)).toEqual(['/v2/crdt/get'])
  expect((await rejected(server))[0]?.times).toBe(1)
})
