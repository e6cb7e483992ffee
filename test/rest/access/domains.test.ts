import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { TenantStore } from '../../../src/core/directory/tenants/tenant-store.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually, RawClient } from '../../support/clients/clients.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const adminToken = 'the-admin-token-of-these-tests'

let engine: Awaited<ReturnType<typeof openMemoryEngine>>
let server: TestServer
beforeAll(async () => {
  engine = await openMemoryEngine()
  server = await startTestServer({ adminToken, publicUrl: 'https://docs.test:8443/' }, { engine })
})
afterAll(() => server.stop())

type Headers = Readonly<Record<string, string>>

/** Creates an API key. */
async function newKey(): Promise<Headers> {
  const answer = await server.post(
    '/v2/workspace/create',
    { ownerEmail: 'ada@example.com' },
    { 'x-service-admin-token': adminToken },
  )
  const made = dataOf(answer) as { apiKey: string; apiKeyAuthToken: string }
  return { 'x-service-api-key': made.apiKey, 'x-service-auth-token': made.apiKeyAuthToken }
}

const call = (headers: Headers, action: 'add' | 'delete', ...domains: string[]) =>
  server.post(`/v2/workspace/domains/${action}`, { domains }, headers)
const list = async (headers: Headers) =>
  (dataOf(await server.post('/v2/workspace/domains/get', {}, headers)) as { allowedDomains: string[] })
    .allowedDomains

it('[WS-42] returns the added domains', async () => {
  const key = await newKey()
  expect(await list(key)).toEqual([])
  const added = await call(key, 'add', 'https://www.one.test/x', '*.two.test', 'one.test')
  expect(added).toMatchObject({ status: 200, body: { result: { status: 'success' } } })
  expect(dataOf(added)).toEqual({ domainsAdded: ['one.test', '*.two.test'] })
  expect(await list(key)).toEqual(['one.test', '*.two.test'])
})

it('[WS-42] adds the new domains of a call, and returns INTERNAL if some of its domains exist already', async () => {
  const key = await newKey()
  await call(key, 'add', 'one.test', 'two.test')
  const partly = await call(key, 'add', 'three.test', 'ONE.test', 'four.test')
  expect(partly).toMatchObject({ status: 500, body: { error: { status: 'INTERNAL' } } })
  expect(partly.body.error?.message).toMatch(/existed already were skipped/)
  expect(partly.body.error?.details).toEqual({
    code: 'domain/partly-changed',
    domainsAdded: ['three.test', 'four.test'],
    skippedDomains: ['one.test'],
  })
  expect(await list(key)).toEqual(['one.test', 'two.test', 'three.test', 'four.test'])
  const none = await call(key, 'add', 'one.test')
  expect(none.body.error?.details).toEqual({
    code: 'domain/partly-changed',
    domainsAdded: [],
    skippedDomains: ['one.test'],
  })
})

it('[WS-43] deletes and returns the existing domains of a call, and returns INTERNAL if some of its domains are missing', async () => {
  const key = await newKey()
  await call(key, 'add', 'one.test', 'two.test', 'three.test')
  expect(dataOf(await call(key, 'delete', 'https://one.test:80'))).toEqual({ domainsRemoved: ['one.test'] })
  const partly = await call(key, 'delete', 'two.test', 'four.test')
  expect(partly).toMatchObject({ status: 500, body: { error: { status: 'INTERNAL' } } })
  expect(partly.body.error?.details).toEqual({
    code: 'domain/partly-changed',
    domainsRemoved: ['two.test'],
    skippedDomains: ['four.test'],
  })
  expect(await list(key)).toEqual(['three.test'])
})

it('[WS-41] rejects invalid domains, states their positions, and adds no domain', async () => {
  const key = await newKey()
  for (const action of ['add', 'delete'] as const) {
    const { status, body } = await call(key, action, 'fine.test', 'no domain', '*')
    expect([status, body.error?.status]).toEqual([400, 'INVALID_ARGUMENT'])
    expect(body.error?.details?.issues).toEqual([
      {
        path: '/data/domains/1',
        message: 'is not a domain name: "no domain"; expected a host such as example.com or *.example.com',
      },
      {
        path: '/data/domains/2',
        message: 'is not a domain name: "*"; expected a host such as example.com or *.example.com',
      },
    ])
  }
  const wrong = [{}, { domains: 'one.test' }, { domains: [1] }, { domains: [null] }]
  for (const data of wrong)
    expect((await server.post('/v2/workspace/domains/add', data, key)).status).toBe(400)
  expect(await list(key)).toEqual([])
})

const many = (count: number, name: string) => Array.from({ length: count }, (_, n) => `${name}${n}.test`)

it('[WS-41] [WS-44] accepts at most 100 domains per request and 1,000 per key, independent of other keys', async () => {
  const [key, other] = [await newKey(), await newKey()]
  expect((await call(key, 'add', ...many(101, 'x'))).status).toBe(400)
  for (let page = 0; page < 9; page += 1)
    expect((await call(key, 'add', ...many(100, `p${page}n`))).status).toBe(200)
  expect((await call(key, 'add', ...many(99, 'last'))).status).toBe(200)
  const beyond = await call(key, 'add', 'more.test', 'evenmore.test')
  expect(beyond).toMatchObject({ status: 400, body: { error: { status: 'FAILED_PRECONDITION' } } })
  expect(await list(key)).toHaveLength(999)
  expect((await call(key, 'add', 'more.test')).status).toBe(200)
  expect(await list(other)).toEqual([])
  expect((await call(other, 'add', 'more.test')).status).toBe(200)
})

it('[WS-45] after any additions and deletions, lists exactly the same domains as a simple model', async () => {
  const domains = ['a.test', 'b.test', '*.a.test', 'localhost', '[::1]']
  const step = fc.tuple(
    fc.constantFrom('add', 'delete'),
    fc.uniqueArray(fc.constantFrom(...domains), { minLength: 1 }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const key = await newKey()
      const model = new Set<string>()
      for (const [action, names] of steps) {
        const changes = names.filter((name) => model.has(name) === (action === 'delete'))
        const { status } = await call(key, action, ...names)
        expect(status).toBe(changes.length === names.length ? 200 : 500)
        for (const name of changes) model[action](name)
      }
      expect(await list(key)).toEqual([...model])
    }),
    { numRuns: 25 },
  )
})

const codeFrom = async (key: Headers, origin: string) =>
  (await server.post('/v2/workspace/domains/get', {}, { ...key, origin })).status

it('[WS-50] if the API key lists domains, rejects calls from pages of other domains with PERMISSION_DENIED', async () => {
  const key = await newKey()
  expect(await codeFrom(key, 'https://evil.test')).toBe(200)
  await call(key, 'add', 'one.test')
  expect(await codeFrom(key, 'https://www.one.test')).toBe(200)
  expect(await codeFrom(key, '')).toBe(200)
  for (const origin of ['https://evil.test', 'null', 'https://a.one.test', server.url]) {
    const answer = await server.post('/v2/workspace/domains/get', {}, { ...key, origin })
    expect(answer).toMatchObject({ status: 403, body: { error: { status: 'PERMISSION_DENIED' } } })
  }
  expect(await codeFrom(await newKey(), 'https://evil.test')).toBe(200)
})

it('[WS-50] if the auth token is restricted to domains, accepts a call only from a page that both the token and the API key allow', async () => {
  const key = await newKey()
  const tenants = new TenantStore(engine.kv)
  const tenant = await tenants.tenantOf(key['x-service-api-key'] ?? '')
  if (tenant === null) throw new Error('no tenant')
  const record = { token: 'a-token-for-one-page', name: 'page', domains: ['page.test'], createdAt: 0 }
  await tenants.putAuthToken(tenant, record)
  const limited = { ...key, 'x-service-auth-token': record.token }
  expect(await codeFrom(limited, 'https://page.test')).toBe(200)
  expect(await codeFrom(limited, 'https://other.test')).toBe(403)
  expect(await codeFrom(key, 'https://other.test')).toBe(200)
  await call(key, 'add', 'other.test')
  expect(await codeFrom(limited, 'https://page.test')).toBe(403)
})

it('[WS-53] applies an added or deleted domain from the next call on', async () => {
  const key = await newKey()
  await call(key, 'add', 'one.test')
  for (let round = 0; round < 20; round += 1) {
    await call(key, 'add', 'two.test')
    expect(await codeFrom(key, 'https://two.test')).toBe(200)
    await call(key, 'delete', 'two.test')
    expect(await codeFrom(key, 'https://two.test')).toBe(403)
  }
  await call(key, 'delete', 'one.test')
  expect(await codeFrom(key, 'https://two.test')).toBe(200)
})

async function tokenOf(key: Headers): Promise<string> {
  const user = { userId: 'ann', userProperties: { name: 'Ann', email: '' } }
  return (dataOf(await server.post('/v2/auth/generate_token', user, key)) as { token: string }).token
}

const connect = (token: string, headers: Headers = {}) =>
  RawClient.connect(`${server.wsUrl}/sync/acme/plan/main?token=${token}`, { ...headers })

it('[WS-51] accepts a websocket from a page of another domain, then closes it with 4401', async () => {
  const key = await newKey()
  const token = await tokenOf(key)
  await call(key, 'add', '*.one.test')
  for (const origin of ['https://evil.test', 'null', 'https://one.test']) {
    const client = await connect(token, { origin })
    expect(await client.closed).toEqual({ code: 4401, reason: expect.stringContaining('origin') })
    expect(client.received).toEqual([])
  }
  for (const headers of [{ origin: 'https://app.one.test' }, {}]) {
    const client = await connect(token, headers)
    await client.roundTrip()
    client.end()
  }
})

it('[WS-53] closes the open sockets of pages whose domain is removed', async () => {
  const key = await newKey()
  const token = await tokenOf(key)
  const page = await connect(token, { origin: 'https://page.test' })
  const backend = await connect(token)
  await Promise.all([page.roundTrip(), backend.roundTrip()])
  await call(key, 'add', 'other.test')
  expect(await page.closed).toMatchObject({ code: 4401 })
  await backend.roundTrip()
  backend.end()
})

const preflight = (origin: string, more: Headers = { 'access-control-request-method': 'POST' }) =>
  fetch(`${server.url}/v2/workspace/domains/get`, { method: 'OPTIONS', headers: { origin, ...more } })

it('[WS-54] sends CORS headers to an origin that any API key lists', async () => {
  const key = await newKey()
  const origin = 'https://cors.test'
  expect((await preflight(origin)).status).toBe(405)
  await call(key, 'add', 'cors.test')
  const asked = await preflight(origin)
  expect(asked.status).toBe(204)
  expect(asked.headers.get('access-control-allow-origin')).toBe(origin)
  expect(asked.headers.get('access-control-allow-methods')).toBe('POST')
  expect(asked.headers.get('access-control-allow-headers')).toContain('x-service-auth-token')
  expect(asked.headers.get('access-control-allow-credentials')).toBeNull()
  expect(asked.headers.get('vary')).toBe('origin')
  for (const token of [key['x-service-auth-token'] ?? '', 'wrong']) {
    const headers = { ...key, 'x-service-auth-token': token, origin }
    const answer = await server.post('/v2/workspace/domains/get', {}, headers)
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin)
  }
  const sharedOf = async (path: string): Promise<string | null> =>
    (await fetch(server.url + path, { headers: { origin } })).headers.get('access-control-allow-origin')
  expect([await sharedOf('/v2/unknown'), await sharedOf('/version')]).toEqual([origin, null])
  expect((await preflight(origin, {})).status).toBe(405)
  await call(key, 'delete', 'cors.test')
  expect((await preflight(origin)).status).toBe(405)
})

it('[WS-54] sends no CORS headers to an origin that no API key lists', async () => {
  const key = await newKey()
  for (const origin of ['https://evil.test', 'null']) {
    const refused = await preflight(origin)
    expect(refused.status).toBe(405)
    expect(refused.headers.get('access-control-allow-origin')).toBeNull()
    const answer = await server.post('/v2/workspace/domains/get', {}, { ...key, origin })
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
  }
})

it('[WS-54] answers the CORS preflight of an origin as long as at least one API key lists the origin', async () => {
  const [one, two] = [await newKey(), await newKey()]
  for (const key of [one, two]) await call(key, 'add', '*.shared.test')
  await call(one, 'delete', '*.shared.test')
  expect((await preflight('https://a.b.shared.test')).status).toBe(204)
  await call(two, 'delete', '*.shared.test')
  await eventually(async () => (await preflight('https://a.b.shared.test')).status === 405)
})

it("[WS-55] with valid credentials, accepts calls and sockets from the server's own pages, whichever domains the API key lists", async () => {
  const key = await newKey()
  const token = await tokenOf(key)
  await call(key, 'add', 'one.test')
  const own = 'https://docs.test:8443'
  expect(await codeFrom(key, own)).toBe(200)
  expect(await codeFrom({ ...key, 'x-service-auth-token': 'wrong' }, own)).toBe(401)
  const page = await connect(token, { origin: own })
  await page.roundTrip()
  page.end()
  expect(await (await connect('wrong', { origin: own })).closed).toMatchObject({ code: 4401 })
  for (const origin of ['https://docs.test', 'http://docs.test:8443', 'https://docs.test:8443.evil.test']) {
    expect(await codeFrom(key, origin)).toBe(403)
    expect(await (await connect(token, { origin })).closed).toMatchObject({ code: 4401 })
  }
})

it("[WS-55] accepts calls from the server's own page even if the auth token is restricted to other domains", async () => {
  const key = await newKey()
  const tenants = new TenantStore(engine.kv)
  const tenant = await tenants.tenantOf(key['x-service-api-key'] ?? '')
  if (tenant === null) throw new Error('no tenant')
  const record = { token: 'another-token-for-one-page', name: 'page', domains: ['page.test'], createdAt: 0 }
  await tenants.putAuthToken(tenant, record)
  const limited = { ...key, 'x-service-auth-token': record.token }
  expect(await codeFrom(limited, 'https://docs.test:8443')).toBe(200)
  expect(await codeFrom(limited, 'https://docs.test')).toBe(403)
})
