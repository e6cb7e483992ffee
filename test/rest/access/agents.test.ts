import { SignJWT } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Clock, systemClock } from '../../../src/core/base/clock.ts'
import { readConfig } from '../../../src/core/config/read-config.ts'
import { agentToken, callsWith, codeOf, grantOn, withoutKey } from '../../support/servers/agents.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
let aheadMs = 0
const clock: Clock = { ...systemClock, now: () => Date.now() + aheadMs }
beforeAll(async () => {
  server = await startTestServer({}, { clock })
  for (const documentId of ['plan', 'secret'])
    dataOf(await server.post('/v2/crdt/add', { ...plan, documentId, type: 'text', data: 'Hello' }))
})
afterAll(() => server.stop())

const plan = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }
const insertion = (content: string) => [{ insert: { at: 'end', content } }]
const textOf = async (documentId = 'plan', editorId = 'main') => {
  const read = await server.post('/v2/crdt/get', { ...plan, documentId, editorId })
  return (dataOf(read) as { data: string }[])[0]?.data
}
const inspect = async (token: string) =>
  dataOf(await server.post('/v2/auth/inspect_token', { token })) as Record<string, unknown>

it('[AGT-1] a token has the model, the user and the policy of its agent, and inspect_token returns them', async () => {
  const token = await agentToken(server, 'bot', { model: 'm-1', onBehalfOf: 'ann', policy: 'suggest-only' })
  expect(await inspect(token)).toMatchObject({
    accepted: true,
    userId: 'bot',
    isAdmin: false,
    agent: { model: 'm-1', onBehalfOf: 'ann', policies: ['suggest-only'] },
  })
  expect(await inspect(await agentToken(server, 'bot'))).toMatchObject({
    agent: { model: null, onBehalfOf: null, policies: [] },
  })
  expect(await inspect(await server.token('ann'))).not.toHaveProperty('agent')
})

it.each([
  [{ model: 'm-1' }, '/data/model'],
  [{ onBehalfOf: 'ann' }, '/data/onBehalfOf'],
  [{ policy: 'read-only', agent: false }, '/data/policy'],
  [{ agent: true, policy: 'no-deletes' }, '/data/policy'],
  [{ agent: true, model: 'm'.repeat(201) }, '/data/model'],
  [{ protected: ['locked'] }, '/data/protected'],
  [
    { agent: true, userProperties: { name: 'Bot', email: '', isAdmin: true } },
    '/data/userProperties/isAdmin',
  ],
])('[AGT-1] generate_token rejects %j', async (given, path) => {
  const user = { userId: 'bot', userProperties: { name: 'Bot', email: '' } }
  const { status, body } = await server.post('/v2/auth/generate_token', { ...user, ...given })
  expect(status).toBe(400)
  expect(body.error?.details?.issues?.map((issue) => issue.path)).toEqual([path])
})

const minted = (claims: object) => {
  const { workspaceId, apiKey, jwtSecret } = server.credentials
  return new SignJWT({ ws: workspaceId, key: apiKey, ...claims })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('weft')
    .setSubject('bot')
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(Buffer.from(jwtSecret))
}

it('[AGT-2] a token that a backend signs itself may describe an agent', async () => {
  const grants = [grantOn('editor', 'plan')]
  const token = await minted({ grants, agent: { model: 'm-2', onBehalfOf: 'ann', policy: 'read-only' } })
  expect(await inspect(token)).toMatchObject({
    agent: { model: 'm-2', onBehalfOf: 'ann', policies: ['read-only'] },
  })
  const call = callsWith(server, token)
  expect((await call('/v2/crdt/get', plan)).status).toBe(200)
  expect(codeOf(await call('/v2/crdt/edit', { ...plan, edits: insertion('!') }))).toBe('agent/role-required')
})

it.each([
  { agent: true },
  { agent: { polcy: 'read-only' } },
  { agent: { policy: 'none' } },
  { agent: { policy: null, model: 7 } },
  { agent: { onBehalfOf: '' } },
  { agent: { protected: 'locked' } },
  { agent: { protected: [''] } },
  { agent: { onBehalfOf: 'a'.repeat(300) } },
  { agent: {}, admin: true },
  { agnet: {} },
  { agents: {} },
])('[AGT-2] a token with the claims %j is rejected', async (claims) => {
  const token = await minted(claims)
  expect(await inspect(token)).toMatchObject({ accepted: false, reason: 'claims' })
  expect(codeOf(await callsWith(server, token)('/v2/crdt/get', plan))).toBe('agent/invalid-token')
})

it('[AGT-3] an agent reads and edits a document with its token only', async () => {
  const call = callsWith(server, await agentToken(server, 'bot', { resources: [grantOn('editor', 'plan')] }))
  expect(dataOf(await call('/v2/crdt/get', plan))).toMatchObject([{ id: 'main', data: 'Hello' }])
  expect(dataOf(await call('/v2/crdt/edit', { ...plan, edits: insertion(' agent') }))).toMatchObject({
    changed: true,
  })
  expect(await textOf()).toBe('Hello agent')
  expect(dataOf(await server.post('/v2/crdt/get', plan))).toMatchObject([{ lastUpdatedBy: 'bot' }])
})

it('[AGT-3] tokens of people and invalid tokens are rejected, and an API key counts before a bearer token', async () => {
  const person = await server.token('ann', { isAdmin: true })
  const codeWith = async (token: string) => {
    const answer = await callsWith(server, token)('/v2/crdt/get', plan)
    return [answer.status, codeOf(answer)]
  }
  expect(await codeWith(person)).toEqual([403, 'agent/token-required'])
  expect(await codeWith('nonsense')).toEqual([401, 'agent/invalid-token'])
  const backend = await callsWith(server, server.credentials.authToken)('/v2/crdt/get', plan)
  expect(backend.body.error?.message).toMatch(
    /auth token of a backend belongs in the header x-service-auth-token$/,
  )
  const short = await agentToken(server, 'bot', { expiresInSeconds: 60 })
  expect((await codeWith(short))[0]).toBe(200)
  aheadMs = 60_000
  expect(await codeWith(short)).toEqual([401, 'agent/invalid-token'])
  aheadMs = 0
  const withBoth = await server.post('/v2/crdt/get', plan, { authorization: `Bearer ${person}` })
  expect(withBoth.status).toBe(200)
  const basic = await server.post('/v2/crdt/get', plan, { ...withoutKey, authorization: 'Basic eDp5' })
  expect(codeOf(basic)).toBe('auth/missing-credentials')
})

it('[AGT-3] a page may use the token of an agent only from an allowed domain', async () => {
  const call = callsWith(server, await agentToken(server, 'bot'))
  dataOf(await server.post('/v2/workspace/domains/add', { domains: ['good.example'] }))
  expect((await call('/v2/crdt/get', plan, { origin: 'https://good.example' })).status).toBe(200)
  const answer = await call('/v2/crdt/get', plan, { origin: 'https://evil.example' })
  expect(answer.status).toBe(401)
  expect(codeOf(answer)).toBe('agent/invalid-token')
})

it('[AGT-4] a revocation ends the tokens of an agent, and those of agents that act for the user', async () => {
  const tokens = await Promise.all([
    agentToken(server, 'helper'),
    agentToken(server, 'other', { onBehalfOf: 'grace' }),
  ])
  const statuses = () =>
    Promise.all(tokens.map(async (token) => (await callsWith(server, token)('/v2/crdt/get', plan)).status))
  expect(await statuses()).toEqual([200, 200])
  dataOf(await server.post('/v2/auth/revoke_tokens', { userId: 'grace' }))
  expect(await statuses()).toEqual([200, 401])
  dataOf(await server.post('/v2/auth/revoke_tokens', { userId: 'helper' }))
  expect(await statuses()).toEqual([401, 401])
  const renewed = await agentToken(server, 'other', { onBehalfOf: 'grace' })
  expect((await callsWith(server, renewed)('/v2/crdt/get', plan)).status).toBe(200)
})

it('[AGT-10] a viewer only reads, and a suggester changes only own branches', async () => {
  const branch = (name: string, userId: string) =>
    server.post('/v2/crdt/branches/create', { ...plan, name, userId })
  dataOf(await branch('own', 'sue'))
  dataOf(await branch('others', 'ann'))
  const codes = async (role: 'viewer' | 'suggester' | 'editor') => {
    const call = callsWith(server, await agentToken(server, 'sue', { resources: [grantOn(role, 'plan')] }))
    const edited = ['main', 'main@own', 'main@others'].map((editorId) =>
      call('/v2/crdt/edit', { ...plan, editorId, edits: insertion('.') }),
    )
    const all = [call('/v2/crdt/get', plan), ...edited]
    return (await Promise.all(all)).map((answer) => codeOf(answer) ?? 'done')
  }
  const required = 'agent/role-required'
  expect(await codes('viewer')).toEqual(['done', required, required, required])
  expect(await codes('suggester')).toEqual(['done', required, 'done', required])
  expect(await codes('editor')).toEqual(['done', 'done', 'done', 'done'])
  dataOf(await server.post('/v2/crdt/branches/reject', { ...plan, name: 'own', userId: 'ann' }))
  const call = callsWith(
    server,
    await agentToken(server, 'sue', { resources: [grantOn('suggester', 'plan')] }),
  )
  const decided = await call('/v2/crdt/edit', { ...plan, editorId: 'main@own', edits: insertion('.') })
  expect(codeOf(decided)).toBe('branch/decided')
})

const addGrant = (userId: string, accessRole: string, documentId: string) => {
  const resource = { type: 'document', id: documentId, organizationId: 'acme', accessRole }
  const permissions = { resources: [resource] }
  return server.post('/v2/auth/permissions/add', { user: { userId }, permissions, createMissing: true })
}

it('[AGT-10] the role in the directory limits the grant of the token', async () => {
  dataOf(await addGrant('limited', 'viewer', 'plan'))
  const token = await agentToken(server, 'limited', { resources: [grantOn('editor', 'plan')] })
  const edited = await callsWith(server, token)('/v2/crdt/edit', { ...plan, edits: insertion('!') })
  expect(edited.body.error).toMatchObject({
    status: 'PERMISSION_DENIED',
    details: { code: 'agent/role-required', role: 'viewer', required: 'editor' },
  })
})

it('[AGT-11] a document without a role is the same to an agent as one that does not exist', async () => {
  const restricted = { documentId: 'secret', accessType: 'restricted' }
  const update = { organizationId: 'acme', documents: [restricted] }
  dataOf(await server.post('/v2/organizations/documents/update', update))
  const granted = callsWith(
    server,
    await agentToken(server, 'bot', { resources: [grantOn('editor', 'plan')] }),
  )
  const free = callsWith(server, await agentToken(server, 'bot'))
  const places = [
    { ...plan, documentId: 'secret' },
    { ...plan, documentId: 'missing' },
    { ...plan, organizationId: 'missing' },
  ]
  const calls = [
    ['/v2/crdt/get', {}],
    ['/v2/crdt/edit', { edits: insertion('!') }],
  ] as const
  for (const call of [granted, free])
    for (const [path, members] of calls) {
      const errors = await Promise.all(
        places.map(async (place) => {
          const { status, body } = await call(path, { ...place, ...members })
          const text = JSON.stringify(body).replaceAll(place.documentId, 'ID')
          return [status, text]
        }),
      )
      expect(errors[0]?.[0]).toBe(404)
      expect(new Set(errors.map(String)).size).toBe(1)
    }
  expect(await textOf('secret')).toBe('Hello')
})

it('[AGT-11] only an agent with a role learns that a document is disabled', async () => {
  dataOf(await server.post('/v2/crdt/add', { ...plan, documentId: 'off', type: 'text', data: 'Off' }))
  const off = { organizationId: 'acme', documents: [{ documentId: 'off', disabled: true }] }
  dataOf(await server.post('/v2/organizations/documents/update', off))
  const codeWith = async (documentId: string) => {
    const token = await agentToken(server, 'bot', { resources: [grantOn('editor', documentId)] })
    return codeOf(await callsWith(server, token)('/v2/crdt/get', { ...plan, documentId: 'off' }))
  }
  expect(await codeWith('off')).toBe('document/disabled')
  expect(await codeWith('plan')).toBe('document/not-found')
})

it('[AGT-13] a change has the agent as its author, with its model and the user for whom it acts', async () => {
  const options = { resources: [grantOn('editor', 'plan')], model: 'm-3', onBehalfOf: 'ann' }
  const call = callsWith(server, await agentToken(server, 'writer', options))
  const meta = { job: 'j-1' }
  const edited = await call('/v2/crdt/edit', {
    ...plan,
    edits: insertion('by writer'),
    meta,
    userId: 'writer',
  })
  const { version } = dataOf(edited) as { version: string }
  const sequence = Number(version.split('.')[1])
  const from = version.replace(/\d+$/, String(sequence - 1))
  const found = dataOf(await server.post('/v2/crdt/changes', { ...plan, from })) as {
    changes: object[]
  }
  expect(found.changes).toMatchObject([
    { userId: 'writer', source: 'rest', meta: { job: 'j-1', model: 'm-3', onBehalfOf: 'ann' } },
  ])
})

it.each([
  [{ userId: 'ann' }, 403, 'agent/other-user'],
  [{ meta: { model: 'other' } }, 400, 'request/invalid-member'],
  [{ meta: { onBehalfOf: 'grace' } }, 400, 'request/invalid-member'],
  [{ schema: 'tiptap' }, 400, 'request/invalid-member'],
  [{ userId: 7 }, 400, 'request/invalid-member'],
])('[AGT-13] an edit of an agent with %j is rejected', async (members, status, code) => {
  const call = callsWith(
    server,
    await agentToken(server, 'writer', { resources: [grantOn('editor', 'plan')] }),
  )
  const before = await textOf()
  const answer = await call('/v2/crdt/edit', { ...plan, edits: insertion('never'), ...members })
  expect([answer.status, codeOf(answer)]).toEqual([status, code])
  expect(await textOf()).toBe(before)
})

it.each([
  ['read-only', 'viewer'],
  ['suggest-only', 'suggester'],
] as const)('[AGT-20] with the policy %s, an agent is at most a %s', async (policy, role) => {
  const token = await agentToken(server, 'sue', { resources: [grantOn('editor', 'plan')], policy })
  const place = { organizationId: 'acme', documentId: 'plan' }
  const found = dataOf(await server.post('/v2/auth/inspect_token', { token, ...place }))
  expect(found).toMatchObject({ accessRole: role })
  const edited = await callsWith(server, token)('/v2/crdt/edit', { ...plan, edits: insertion('!') })
  expect(codeOf(edited)).toBe('agent/role-required')
})

it('[AGT-20] the policy of the server applies in addition to that of the token', async () => {
  const strict = await startTestServer({ agentPolicy: { policies: ['no-delete'] } })
  try {
    dataOf(await strict.post('/v2/crdt/add', { ...plan, type: 'text', data: 'Hello' }))
    const token = await agentToken(strict, 'bot', { policy: 'suggest-only' })
    const inspected = dataOf(await strict.post('/v2/auth/inspect_token', { token }))
    expect(inspected).toMatchObject({ agent: { policies: ['suggest-only', 'no-delete'] } })
    const call = callsWith(strict, await agentToken(strict, 'bot'))
    const edits = [{ remove: { target: 'Hello' } }]
    expect(codeOf(await call('/v2/crdt/edit', { ...plan, edits }))).toBe('agent/delete-not-allowed')
    expect((await call('/v2/crdt/edit', { ...plan, edits: insertion('!') })).status).toBe(200)
  } finally {
    await strict.stop()
  }
})

it('[AGT-32] the policy of the server protects marks and attributes from all agents', async () => {
  const environment = { WEFT_AGENT_POLICY: 'suggest-only, protect:approved,protect:locked' }
  const { agentPolicy } = readConfig({ flags: {}, environment, file: null }).config
  expect(agentPolicy).toEqual({ policies: ['suggest-only'], protected: ['approved', 'locked'] })
  const strict = await startTestServer({ agentPolicy: { policies: [], protected: ['approved'] } })
  try {
    const data = [{ insert: '100 euros', attributes: { approved: true } }, { insert: ' each month' }]
    dataOf(await strict.post('/v2/crdt/add', { ...plan, type: 'delta', data }))
    const call = callsWith(strict, await agentToken(strict, 'bot', { protected: ['locked'] }))
    const replaced = (find: string) =>
      call('/v2/crdt/edit', { ...plan, edits: [{ replace: { find, with: 'x' } }] })
    expect(codeOf(await replaced('100'))).toBe('agent/protected-content')
    expect((await replaced('month')).status).toBe(200)
  } finally {
    await strict.stop()
  }
})

it('[AGT-31] the calls of one agent have a limit of their own', async () => {
  const limited = await startTestServer({ callsPerAgent: { perSecond: 1, burst: 3 } })
  try {
    dataOf(await limited.post('/v2/crdt/add', { ...plan, type: 'text', data: 'Hello' }))
    const [busy, quiet] = await Promise.all(['busy', 'quiet'].map((userId) => agentToken(limited, userId)))
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => callsWith(limited, busy as string)('/v2/crdt/get', plan)),
    )
    const rejected = answers.filter(({ status }) => status === 429)
    expect(rejected.length).toBeGreaterThanOrEqual(2)
    expect(rejected[0]?.body.error?.details).toMatchObject({ limit: 'callsPerAgent', scope: 'agent' })
    expect(Number(rejected[0]?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await callsWith(limited, quiet as string)('/v2/crdt/get', plan)).status).toBe(200)
    expect((await limited.post('/v2/crdt/get', plan)).status).toBe(200)
  } finally {
    await limited.stop()
  }
})
