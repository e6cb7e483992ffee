import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { HeldClock } from '../../support/time/clock.ts'
import { itLong } from '../../support/time/full-run.ts'

const adminToken = 'the-admin-token-of-these-tests'
const admin = { 'x-service-admin-token': adminToken }
const root = mkdtempSync(join(tmpdir(), 'weft-workspace-'))

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ adminToken })
})
afterAll(async () => {
  await server.stop()
  rmSync(root, { recursive: true, force: true, maxRetries: 20 })
})

interface Made {
  readonly id: string
  readonly authToken: string
  readonly apiKey: string
  readonly apiKeyAuthToken: string
}

type Headers = Readonly<Record<string, string>>

const ofWorkspace = (made: Pick<Made, 'id' | 'authToken'>): Headers => ({
  'x-service-workspace-id': made.id,
  'x-service-workspace-auth-token': made.authToken,
})
const ofKey = (apiKey: string, authToken: string): Headers => ({
  'x-service-api-key': apiKey,
  'x-service-auth-token': authToken,
})
const ownOf = ({ credentials }: TestServer): Headers =>
  ofWorkspace({ id: credentials.workspaceId, authToken: credentials.workspaceAuthToken })

async function create(more: object = {}, on = server): Promise<Made> {
  return dataOf(
    await on.post('/v2/workspace/create', { ownerEmail: 'ada@example.com', ...more }, admin),
  ) as Made
}

const user = { userId: 'ann', userProperties: { name: 'Ann', email: '' } }
/** Returns the HTTP code of a call with this key and token. */
const codeOf = async (apiKey: string, authToken: string, on = server) =>
  (await on.post('/v2/auth/generate_token', user, ofKey(apiKey, authToken))).status

async function withServer(
  options: Parameters<typeof startTestServer>,
  use: (on: TestServer) => Promise<void>,
) {
  const on = await startTestServer(...options)
  try {
    await use(on)
  } finally {
    await on.stop()
  }
}

it('[WS-1] rejects a call without a workspace header with INVALID_ARGUMENT, and states the missing header', async () => {
  const [id, token] = ['x-service-workspace-id', 'x-service-workspace-auth-token']
  const noId = await server.post('/v2/workspace/get', {}, { [token]: 'x' })
  expect(noId).toMatchObject({ status: 400, body: { error: { status: 'INVALID_ARGUMENT' } } })
  expect(noId.body.error?.message).toMatch(/workspace id is missing: send the header x-service-workspace-id/)
  const asBearer = await server.post('/v2/workspace/get', {}, { authorization: 'Bearer x' })
  expect(asBearer.body.error?.message).toMatch(
    /send the header .+; authorization is only for tokens of agents$/,
  )
  const noToken = await server.post('/v2/workspace/get', {}, { [id]: server.credentials.workspaceId })
  expect(noToken).toMatchObject({ status: 400, body: { error: { status: 'INVALID_ARGUMENT' } } })
  expect(noToken.body.error?.message).toMatch(/auth token is missing/)
})

it('[WS-1] rejects a wrong token with UNAUTHENTICATED, and an unknown workspace with NOT_FOUND, both with the same message', async () => {
  const own = ownOf(server)
  const other = await create()
  const codes = async (wrong: Headers) => {
    const { status, body } = await server.post('/v2/workspace/get', {}, wrong)
    return [status, body.error?.status, body.error?.message]
  }
  const message = 'the workspace id or the workspace auth token is not valid'
  for (const token of ['wrong', other.authToken])
    expect(await codes({ ...own, 'x-service-workspace-auth-token': token })).toEqual([
      401,
      'UNAUTHENTICATED',
      message,
    ])
  for (const unknown of [
    { ...own, 'x-service-workspace-id': 'ws_unknown' },
    { 'x-service-workspace-id': '__proto__', 'x-service-workspace-auth-token': '__proto__' },
  ])
    expect(await codes(unknown)).toEqual([404, 'NOT_FOUND', message])
})

it('[WS-2] requires the admin token for operations of the operator', async () => {
  const post = (headers: Headers, on = server) =>
    on.post('/v2/workspace/create', { ownerEmail: 'ada@example.com' }, headers)
  expect(await post({})).toMatchObject({ status: 400, body: { error: { status: 'INVALID_ARGUMENT' } } })
  for (const token of ['wrong', `${adminToken}x`, server.credentials.workspaceAuthToken])
    expect(await post({ 'x-service-admin-token': token })).toMatchObject({
      status: 401,
      body: { error: { status: 'UNAUTHENTICATED' } },
    })
  await withServer([{}], async (without) => {
    for (const headers of [admin, {}])
      expect(await post(headers, without)).toMatchObject({
        status: 400,
        body: { error: { status: 'FAILED_PRECONDITION' } },
      })
  })
})

it('[WS-3] lists the headers of each auth level in the OpenAPI document', async () => {
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    paths: Record<string, { post: { security: Record<string, unknown>[] } }>
    components: { securitySchemes: Record<string, { name: string }> }
  }
  const headersOf = (path: string) =>
    document.paths[path]?.post.security.map((all) =>
      Object.keys(all).map((name) => document.components.securitySchemes[name]?.name ?? name),
    )
  expect(headersOf('/v2/crdt/get')).toEqual([['x-service-api-key', 'x-service-auth-token'], ['agentToken']])
  expect(headersOf('/v2/crdt/update')).toEqual([['x-service-api-key', 'x-service-auth-token']])
  expect(headersOf('/v2/workspace/get')).toEqual([
    ['x-service-workspace-id', 'x-service-workspace-auth-token'],
  ])
  expect(headersOf('/v2/workspace/create')).toEqual([['x-service-admin-token']])
})

it('[WS-4] when authentication is off, uses the first workspace for a call without credentials, but still checks credentials that a call has', () =>
  withServer([{ auth: 'none' }], async (open) => {
    const get = (headers: Headers) => open.post('/v2/workspace/get', {}, headers)
    expect(dataOf(await get({}))).toMatchObject({ id: open.credentials.workspaceId })
    expect((await get({ ...ownOf(open), 'x-service-workspace-auth-token': 'wrong' })).status).toBe(401)
    expect((await get({ 'x-service-workspace-id': 'x' })).status).toBe(400)
  }))

it('[WS-10] creates a complete workspace with credentials that work', async () => {
  const made = await create({ name: 'Ada', workspaceName: 'Engines', avatar: 'https://example.com/a.png' })
  expect(made).toEqual({
    id: expect.any(String),
    name: 'Engines',
    owner: {
      id: expect.any(String),
      email: 'ada@example.com',
      name: 'Ada',
      avatar: 'https://example.com/a.png',
    },
    authToken: expect.any(String),
    apiKeyList: { [made.apiKey]: { id: made.apiKey, apiKeyName: expect.any(String), type: 'testing' } },
    apiKey: expect.any(String),
    apiKeyAuthToken: expect.any(String),
  })
  expect(await codeOf(made.apiKey, made.apiKeyAuthToken)).toBe(200)
  expect(await codeOf(made.apiKey, server.credentials.authToken)).toBe(401)
  expect((await create()).id).not.toBe(made.id)
})

it.each<[string, object, string]>([
  ['no owner', { ownerEmail: undefined }, 'ownerEmail'],
  ['no address', { ownerEmail: 'ada' }, 'ownerEmail'],
  ['two addresses', { ownerEmail: 'ada@example.com, bob@example.com' }, 'ownerEmail'],
  ['a line break', { ownerEmail: 'ada@example.com\nx' }, 'ownerEmail'],
  ['a long name', { name: 'x'.repeat(201) }, 'name'],
  ['a long workspace name', { workspaceName: 'x'.repeat(201) }, 'workspaceName'],
  ['an avatar that is no URL', { avatar: 'a.png' }, 'avatar'],
  ['an avatar that runs', { avatar: 'javascript:alert(1)' }, 'avatar'],
  ['a long avatar', { avatar: `https://example.com/${'x'.repeat(2000)}` }, 'avatar'],
])(
  '[WS-11] rejects an invalid workspace, and states the position of the problem: %s',
  async (_name, wrong, member) => {
    const { status, body } = await server.post(
      '/v2/workspace/create',
      { ownerEmail: 'ada@example.com', ...wrong },
      admin,
    )
    expect([status, body.error?.status]).toEqual([400, 'INVALID_ARGUMENT'])
    expect(body.error?.details?.issues?.[0]?.path).toBe(`/data/${member}`)
  },
)

it('[WS-11] derives default names for the workspace and its owner', async () => {
  expect(await create({ name: 'x'.repeat(200) })).toMatchObject({ name: `${'x'.repeat(200)} workspace` })
  expect(await create()).toMatchObject({ name: 'ada workspace', owner: { name: 'ada', avatar: '' } })
})

it('[WS-12] returns the workspace with all its API keys', async () => {
  const { apiKey, apiKeyAuthToken: _, ...record } = await create()
  const headers = ofWorkspace(record)
  expect(dataOf(await server.post('/v2/workspace/get', {}, headers))).toEqual(record)
  const second = dataOf(
    await server.post('/v2/workspace/apikey/create', { type: 'production', apiKeyName: 'Live' }, headers),
  ) as { apiKey: string }
  expect(dataOf(await server.post('/v2/workspace/get', {}, headers))).toMatchObject({
    apiKeyList: {
      [apiKey]: { type: 'testing' },
      [second.apiKey]: { id: second.apiKey, apiKeyName: 'Live', type: 'production' },
    },
  })
})

it('[WS-13] limits the calls of /v2/workspace/get per minute, separately for each workspace', async () => {
  const clock = new HeldClock()
  await withServer([{ adminToken, workspaceReadsPerMinute: 3 }, { clock }], async (limited) => {
    const [one, two] = [await create({}, limited), await create({}, limited)]
    const get = (made: Made) => limited.post('/v2/workspace/get', {}, ofWorkspace(made))
    for (let call = 0; call < 3; call += 1) expect((await get(one)).status).toBe(200)
    clock.advance(59_999)
    const refused = await get(one)
    expect(refused).toMatchObject({ status: 429, body: { error: { status: 'RESOURCE_EXHAUSTED' } } })
    expect(refused.body.error?.message).toMatch(/retry after 1 minute/)
    expect(refused.headers.get('retry-after')).toBe('60')
    expect((await get(two)).status).toBe(200)
    clock.advance(1)
    expect((await get(one)).status).toBe(200)
  })
})

const tokensOf = async (made: Made, on = server) =>
  dataOf(await on.post('/v2/workspace/authtokens/get', { apiKey: made.apiKey }, ofWorkspace(made))) as {
    authTokens: { token: string }[]
  }
const reset = async (made: Made, more: object = {}, on = server) => {
  const answer = await on.post(
    '/v2/workspace/authtoken/reset',
    { apiKey: made.apiKey, ...more },
    ofWorkspace(made),
  )
  return (dataOf(answer) as { newAuthToken: { token: string } }).newAuthToken.token
}

it('[WS-20] returns the tokens of an API key only to the workspace that has this key', async () => {
  const made = await create()
  expect(await tokensOf(made)).toEqual({
    apiKey: made.apiKey,
    authTokens: [{ token: made.apiKeyAuthToken, name: 'default', domains: [] }],
  })
  for (const apiKey of ['key_unknown', server.credentials.apiKey, '__proto__'])
    for (const path of ['authtokens/get', 'authtoken/reset'])
      expect(await server.post(`/v2/workspace/${path}`, { apiKey }, ofWorkspace(made))).toMatchObject({
        status: 404,
        body: { error: { status: 'NOT_FOUND' } },
      })
  expect((await server.post('/v2/workspace/authtokens/get', {}, ofWorkspace(made))).status).toBe(400)
})

it('[WS-21] when the token of an API key is reset, replaces it immediately', async () => {
  const made = await create()
  const answer = await server.post(
    '/v2/workspace/authtoken/reset',
    { apiKey: made.apiKey },
    ofWorkspace(made),
  )
  const { newAuthToken } = dataOf(answer) as { newAuthToken: { token: string } }
  expect(dataOf(answer)).toEqual({
    apiKey: made.apiKey,
    newAuthToken: { token: expect.any(String), name: 'default', domains: [] },
  })
  expect(await codeOf(made.apiKey, made.apiKeyAuthToken)).toBe(401)
  expect(await codeOf(made.apiKey, newAuthToken.token)).toBe(200)
  expect((await tokensOf(made)).authTokens).toEqual([newAuthToken])
})

it('[WS-21] [WS-22] after a restart, keeps tokens valid, and replaced tokens for the rest of their grace period', async () => {
  const clock = new HeldClock()
  const options = [
    { adminToken, engine: 'level', dataDir: join(root, 'restart') } as const,
    { clock },
  ] as const
  let made: Made | null = null
  let token = ''
  await withServer([...options], async (first) => {
    made = await create({}, first)
    token = await reset(made, { graceSeconds: 60 }, first)
  })
  clock.advance(59_999)
  await withServer([...options], async (second) => {
    const { apiKey, apiKeyAuthToken } = made as unknown as Made
    expect(await codeOf(apiKey, token, second)).toBe(200)
    expect(await codeOf(apiKey, apiKeyAuthToken, second)).toBe(200)
    clock.advance(1)
    expect(await codeOf(apiKey, apiKeyAuthToken, second)).toBe(401)
    expect(await codeOf(apiKey, token, second)).toBe(200)
  })
})

it('[WS-22] when a reset has no grace period, also ends the tokens that an earlier reset kept valid', async () => {
  const made = await create()
  const second = await reset(made, { graceSeconds: 3600 })
  expect(await codeOf(made.apiKey, made.apiKeyAuthToken)).toBe(200)
  const third = await reset(made)
  expect(await codeOf(made.apiKey, made.apiKeyAuthToken)).toBe(401)
  expect(await codeOf(made.apiKey, second)).toBe(401)
  expect(await codeOf(made.apiKey, third)).toBe(200)
  for (const graceSeconds of [-1, 0.5, 2_592_001, '60'])
    expect(
      await server.post(
        '/v2/workspace/authtoken/reset',
        { apiKey: made.apiKey, graceSeconds },
        ofWorkspace(made),
      ),
    ).toMatchObject({ status: 400 })
})

it('[WS-23] after many concurrent resets of a token, exactly one of the new tokens is valid', async () => {
  const made = await create()
  const tokens = await Promise.all(Array.from({ length: 8 }, () => reset(made)))
  const codes = await Promise.all(tokens.map((token) => codeOf(made.apiKey, token)))
  expect(codes.filter((code) => code === 200)).toHaveLength(1)
  const { authTokens } = await tokensOf(made)
  expect(authTokens.map(({ token }) => token)).toEqual([tokens[codes.indexOf(200)]])
  const graceful = await Promise.all(Array.from({ length: 8 }, () => reset(made, { graceSeconds: 60 })))
  for (const token of graceful) expect(await codeOf(made.apiKey, token)).toBe(200)
  expect((await tokensOf(made)).authTokens).toHaveLength(1)
})

it('[WS-30] creates an API key that works, and that does not see the data of other API keys', async () => {
  const made = await create()
  const { apiKey, authToken } = dataOf(
    await server.post(
      '/v2/workspace/apikey/create',
      { type: 'production', allowedDomains: ['https://www.Example.com/x'] },
      ofWorkspace(made),
    ),
  ) as { apiKey: string; authToken: string }
  const own = ofKey(apiKey, authToken)
  expect(dataOf(await server.post('/v2/workspace/domains/get', {}, own))).toEqual({
    allowedDomains: ['example.com'],
  })
  const document = { organizationId: 'o', documentId: 'd', editorId: 'e' }
  await server.post('/v2/crdt/add', { ...document, type: 'text', data: 'mine' }, own)
  expect((await server.post('/v2/crdt/get', document, own)).status).toBe(200)
  const neighbor = ofKey(made.apiKey, made.apiKeyAuthToken)
  expect((await server.post('/v2/crdt/get', document, neighbor)).status).toBe(404)
  for (const wrong of [{}, { type: 'other' }, { type: 'testing', apiKeyName: 'x'.repeat(201) }])
    expect((await server.post('/v2/workspace/apikey/create', wrong, ofWorkspace(made))).status).toBe(400)
  const badDomain = { type: 'testing', allowedDomains: ['fine.example', 'no domain'] }
  const refused = await server.post('/v2/workspace/apikey/create', badDomain, ofWorkspace(made))
  expect(refused.body.error?.details?.issues?.[0]?.path).toBe('/data/allowedDomains/1')
})

const listKeys = async (made: Made, data: object) => {
  const { status, body } = await server.post('/v2/workspace/apikeys/get', data, ofWorkspace(made))
  const { data: keys, pageToken } = (body.result ?? {}) as { data?: { id: string }[]; pageToken?: string }
  return { status, keys, pageToken }
}

it('[WS-31] lists API keys in pages', async () => {
  const made = await create()
  const createKey = (apiKeyName: string) =>
    server.post('/v2/workspace/apikey/create', { type: 'testing', apiKeyName }, ofWorkspace(made))
  for (const name of ['a', 'b', 'c', 'd']) await createKey(name)
  const found: { id: string }[] = []
  let pageToken: string | undefined
  for (const size of [2, 2, 1]) {
    const page = await listKeys(made, { pageSize: 2, ...(pageToken !== undefined && { pageToken }) })
    expect(page.keys).toHaveLength(size)
    found.push(...(page.keys ?? []))
    pageToken = page.pageToken
  }
  expect(pageToken).toBeUndefined()
  expect((await listKeys(made, {})).keys).toEqual(found)
  expect((await listKeys(made, { pageSize: 5 })).pageToken).toBeUndefined()
  expect(found.find(({ id }) => id === made.apiKey)).toEqual({
    id: made.apiKey,
    apiKeyName: 'Default',
    type: 'testing',
  })
})

it('[WS-31] rejects a page size below 1, and a page token that is damaged or belongs to another workspace', async () => {
  const [made, other] = [await create(), await create()]
  for (const each of [made, other])
    await server.post('/v2/workspace/apikey/create', { type: 'testing' }, ofWorkspace(each))
  for (const pageSize of [0, 1.5, '1']) expect((await listKeys(made, { pageSize })).status).toBe(400)
  const { pageToken = '' } = await listKeys(made, { pageSize: 1 })
  expect((await listKeys(made, { pageToken })).status).toBe(200)
  expect((await listKeys(other, { pageToken })).status).toBe(400)
  for (const damaged of ['', 'x', `A${pageToken.slice(1)}B`, 'x'.repeat(20_000)])
    expect((await listKeys(made, { pageToken: damaged })).status).toBe(400)
})

itLong('[WS-32] limits a workspace to 1,000 API keys', async () => {
  const made = await create()
  const createKey = () => server.post('/v2/workspace/apikey/create', { type: 'testing' }, ofWorkspace(made))
  for (let key = 1; key < 999; key += 1) expect((await createKey()).status).toBe(200)
  const answers = await Promise.all([createKey(), createKey(), createKey()])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400])
  expect(answers.find(({ status }) => status === 400)?.body.error?.status).toBe('FAILED_PRECONDITION')
  const { apiKeyList } = dataOf(await server.post('/v2/workspace/get', {}, ofWorkspace(made))) as {
    apiKeyList: object
  }
  expect(Object.keys(apiKeyList)).toHaveLength(1000)
})
