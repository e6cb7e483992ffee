import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operationList } from '../../../src/capabilities/list.ts'
import { type Clock, systemClock } from '../../../src/core/base/clock.ts'
import { agentCalls } from '../../support/data/agent-calls.ts'
import { agentToken, callsWith, codeOf, grantOn, withoutKey } from '../../support/servers/agents.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { otherKey } from '../../support/servers/tenants.ts'

let server: TestServer
let aheadMs = 0
const clock: Clock = { ...systemClock, now: () => Date.now() + aheadMs }
const roles = ['viewer', 'suggester', 'editor'] as const
const documentIds = ['viewer', 'suggester', 'editor', 'secret', 'off']
const versions = new Map<string, string>()

beforeAll(async () => {
  server = await startTestServer({}, { clock })
  for (const documentId of documentIds) {
    const place = { organizationId: 'acme', documentId }
    const added = await server.post('/v2/crdt/add', {
      ...place,
      editorId: 'main',
      type: 'text',
      data: 'Hello',
    })
    versions.set(documentId, (dataOf(added) as { version: string }).version)
    // A change of another user, which an agent must not undo.
    const edits = [{ insert: { at: 'end', content: ' world' } }]
    dataOf(await server.post('/v2/crdt/edit', { ...place, editorId: 'main', edits, userId: 'ann' }))
    const ann = { userId: 'ann' }
    const annotation = { annotationId: `thread-${documentId}`, comments: [{ from: ann, text: 'Hm?' }] }
    const annotated = { ...place, actionUser: ann, annotations: [annotation] }
    dataOf(await server.post('/v2/commentannotations/add', annotated))
    const branch = { ...place, editorId: 'main', name: 'of-ann', userId: 'ann' }
    dataOf(await server.post('/v2/crdt/branches/create', branch))
  }
  const documents = [
    { documentId: 'off', disabled: true },
    { documentId: 'secret', accessType: 'restricted' },
  ]
  dataOf(await server.post('/v2/organizations/documents/update', { organizationId: 'acme', documents }))
})
afterAll(() => server.stop())

const open = operationList.filter(({ agents }) => agents !== undefined)
const closed = operationList.filter(({ agents }) => agents === undefined)
const openOnDocuments = open.filter(({ agents }) => agents?.role !== 'each').map(({ path }) => path)

const dataFor = (path: string, documentId: string, organizationId = 'acme') =>
  agentCalls[path]?.data({ organizationId, documentId }, versions.get(documentId) ?? '1.0') as object

it('[AGT-14] the tests call each operation that is open to agents', () => {
  expect(Object.keys(agentCalls).toSorted()).toEqual(openOnDocuments.toSorted())
  expect(open.map(({ path }) => path).filter((path) => !openOnDocuments.includes(path))).toEqual([
    '/v2/organizations/documents/get',
  ])
  for (const { path, agents } of open)
    if (agents?.role !== 'each') expect(agentCalls[path]?.role, path).toBe(agents?.role)
})

it('[AGT-14] every other operation rejects the token of an agent without limited grants', async () => {
  const call = callsWith(server, await agentToken(server, 'bot'))
  for (const { path, auth } of closed) {
    const answer = await call(path, { organizationId: 'acme', documentId: 'editor', editorId: 'main' })
    expect([path, auth, answer.status, codeOf(answer)]).toEqual([
      path,
      auth,
      403,
      'agent/operation-not-allowed',
    ])
  }
  expect(closed.length).toBeGreaterThan(100)
})

describe.each(roles)('a %s', (role) => {
  it(`[AGT-14] may call exactly the operations for its role`, async () => {
    const call = callsWith(server, await agentToken(server, 'bot', { resources: [grantOn(role, role)] }))
    if (role === 'viewer') {
      const branch = {
        organizationId: 'acme',
        documentId: role,
        editorId: 'main',
        name: 'idea',
        userId: 'bot',
      }
      dataOf(await server.post('/v2/crdt/branches/create', branch))
    }
    for (const [path, example] of Object.entries(agentCalls)) {
      const code = codeOf(await call(path, dataFor(path, role)))
      const mayCall = roles.indexOf(role) >= roles.indexOf(example.role)
      expect([path, code]).toEqual([path, mayCall ? undefined : 'agent/role-required'])
    }
  })
})

/** Returns the code of the response to each operation on documents, without duplicates. */
async function codesOf(token: string, documentId: string, organizationId = 'acme') {
  const call = callsWith(server, token)
  const answers = await Promise.all(
    openOnDocuments.map(async (path) => {
      const { status, body } = await call(path, dataFor(path, documentId, organizationId))
      const text = JSON.stringify(body).replaceAll(JSON.stringify(documentId).slice(1, -1), 'ID')
      return `${status} ${text.replaceAll(/"requestId":"[^"]*"/g, '')}`
    }),
  )
  return [...new Set(answers)]
}

it('[AGT-11] outside of its grants, an agent gets the same error from all operations, for any document', async () => {
  const granted = await agentToken(server, 'bot', { resources: [grantOn('editor', 'editor')] })
  const free = await agentToken(server, 'bot')
  const errors = [
    await codesOf(granted, 'secret'),
    await codesOf(granted, 'viewer'),
    await codesOf(granted, 'off'),
    await codesOf(granted, 'missing'),
    await codesOf(granted, 'editor', 'other'),
    await codesOf(free, 'secret'),
  ]
  expect(new Set(errors.flat()).size).toBe(1)
  expect(errors[0]?.[0]).toMatch(/^404 .*"document\/not-found"/)
})

it('[AGT-11] an agent of one API key reaches no document of another', async () => {
  const other = await otherKey(server)
  const resources = [grantOn('editor', 'editor')]
  const made = await server.post(
    '/v2/auth/generate_token',
    { userId: 'bot', userProperties: { name: '', email: '' }, agent: true, permissions: { resources } },
    other.headers,
  )
  const [error, ...more] = await codesOf((dataOf(made) as { token: string }).token, 'editor')
  expect(more).toEqual([])
  expect(error).toMatch(/^404 .*"document\/not-found"/)
})

it('[AGT-14] all operations reject expired and revoked tokens, tokens of people, and disabled documents', async () => {
  const resources = [grantOn('editor', 'off'), grantOn('editor', 'editor')]
  const short = await agentToken(server, 'bot', { resources, expiresInSeconds: 60 })
  const revoked = await agentToken(server, 'revoked', { resources })
  dataOf(await server.post('/v2/auth/revoke_tokens', { userId: 'revoked' }))
  const person = await server.token('ann', { isAdmin: true })
  expect(await codesOf(short, 'off')).toEqual([expect.stringMatching(/^400 .*"document\/disabled"/)])
  expect(await codesOf(revoked, 'editor')).toEqual([expect.stringMatching(/^401 .*"agent\/invalid-token"/)])
  expect(await codesOf(person, 'editor')).toEqual([expect.stringMatching(/^403 .*"agent\/token-required"/)])
  aheadMs = 60_000
  expect(await codesOf(short, 'editor')).toEqual([expect.stringMatching(/^401 .*"agent\/invalid-token"/)])
  aheadMs = 0
})

const place = { organizationId: 'acme', documentId: 'editor', editorId: 'main' }
const editorToken = () =>
  agentToken(server, 'bot', { name: 'Bot', resources: [grantOn('editor', 'editor')], model: 'm-1' })

it.each([
  ['/v2/crdt/undo', { ...place, from: '1.1', by: 'ann' }],
  ['/v2/crdt/undo', { ...place, from: '1.1', userId: 'ann' }],
  ['/v2/crdt/branches/create', { ...place, name: 'x', userId: 'ann' }],
  ['/v2/crdt/branches/delete', { ...place, name: 'of-ann' }],
  [
    '/v2/commentannotations/add',
    { ...place, editorId: undefined, actionUser: { userId: 'ann' }, annotations: [{}] },
  ],
  [
    '/v2/commentannotations/add',
    {
      ...place,
      editorId: undefined,
      annotations: [{ comments: [{ text: 'I agree', from: { userId: 'ann' } }] }],
    },
  ],
  [
    '/v2/commentannotations/comments/add',
    {
      ...place,
      editorId: undefined,
      annotationId: 'thread-editor',
      comments: [{ text: 'I agree', from: { userId: 'ann' } }],
    },
  ],
  ['/v2/presence/add', { ...place, editorId: undefined, users: [{ userId: 'ann', status: 'away' }] }],
  ['/v2/presence/delete', { ...place, editorId: undefined, userIds: ['bot', 'ann'] }],
])('[AGT-13] %s rejects an agent that acts as another user: %j', async (path, data) => {
  const answer = await callsWith(server, await editorToken())(path, data)
  expect([answer.status, codeOf(answer)]).toEqual([403, 'agent/other-user'])
})

it('[AGT-13] an agent undoes only its own changes', async () => {
  const call = callsWith(server, await editorToken())
  const edits = [{ insert: { at: 'start', content: 'Oh. ' } }]
  dataOf(await call('/v2/crdt/edit', { ...place, edits }))
  const text = async () => {
    const [entry] = dataOf(await server.post('/v2/crdt/get', place)) as { data: string }[]
    return entry?.data
  }
  expect(await text()).toContain('Oh. Hello world')
  const changes = dataOf(
    await server.post('/v2/crdt/changes', { ...place, from: versions.get('editor') }),
  ) as {
    changes: { changeId: string; userId: string }[]
  }
  const ofAnn = changes.changes.filter(({ userId }) => userId === 'ann').map(({ changeId }) => changeId)
  expect(ofAnn).toHaveLength(1)
  const from = versions.get('editor')
  dataOf(await call('/v2/crdt/undo', { ...place, from, changeIds: ofAnn }))
  expect(await text()).toContain('Oh. Hello world')
  dataOf(await call('/v2/crdt/undo', { ...place, from }))
  expect(await text()).toBe('Hello world')
})

it('[AGT-13] comments and presence have the id and the name of the agent', async () => {
  const call = callsWith(server, await editorToken())
  const ids = { organizationId: 'acme', documentId: 'editor' }
  const named = { userId: 'bot', name: 'Ann', email: 'ann@example.com' }
  const comments = [{ text: 'A remark', from: named }]
  dataOf(await call('/v2/commentannotations/add', { ...ids, actionUser: named, annotations: [{ comments }] }))
  dataOf(await call('/v2/presence/add', { ...ids, users: [{ ...named, status: 'busy' }] }))
  const annotations = dataOf(await server.post('/v2/commentannotations/get', ids)) as {
    createdBy: object
    comments: { from: object; text: string }[]
  }[]
  const bot = { userId: 'bot', name: 'Bot' }
  expect(annotations[0]).toMatchObject({ createdBy: bot, comments: [{ from: bot, text: 'A remark' }] })
  expect(JSON.stringify(annotations[0])).not.toContain('ann@example.com')
  const present = dataOf(await server.post('/v2/presence/get', ids)) as object[]
  expect(JSON.stringify(present)).toContain('"name":"Bot"')
  expect(JSON.stringify(present)).not.toContain('Ann')
})

it('[MCP-74] comments name users to an agent without their email addresses', async () => {
  const call = callsWith(server, await editorToken())
  const ids = { organizationId: 'acme', documentId: 'editor' }
  const user = (userId: string) => ({ userId, name: `Name of ${userId}`, email: `${userId}@example.com` })
  const annotationId = 'with-emails'
  const annotation = {
    annotationId,
    assignedTo: user('assigned'),
    location: { id: 'page-1', owner: user('owner'), email: 'kept@example.com' },
    suggestion: { content: [{ reviewer: user('reviewer') }] },
    comments: [{ commentId: 'first', from: user('author'), text: 'Hm?' }],
  }
  dataOf(
    await server.post('/v2/commentannotations/add', {
      ...ids,
      actionUser: user('creator'),
      annotations: [annotation],
    }),
  )
  dataOf(
    await server.post('/v2/commentannotations/comments/reactions/add', {
      ...ids,
      annotationId,
      commentId: 'first',
      actionUser: user('reacting'),
      reactions: [{ reaction: '👍' }],
    }),
  )
  const requests = [
    ['/v2/commentannotations/get', { ...ids, annotationIds: [annotationId] }],
    ['/v2/commentannotations/get', { ...ids, userId: 'author' }],
    ['/v2/commentannotations/comments/get', { ...ids, annotationId, commentIds: ['first'] }],
    ['/v2/commentannotations/comments/get', { ...ids, annotationId }],
  ] as const
  const emails = (data: unknown) =>
    [...JSON.stringify(data).matchAll(/"email":"(\w+)@/g)].map(([, name]) => name)
  for (const [path, data] of requests) {
    const ofBackend = dataOf(await server.post(path, data))
    const ofAgent = dataOf(await call(path, data))
    const isAnnotation = path === '/v2/commentannotations/get'
    expect(emails(ofBackend)).toEqual(
      expect.arrayContaining(
        isAnnotation
          ? ['assigned', 'owner', 'kept', 'reviewer', 'creator', 'author', 'reacting']
          : ['author', 'reacting'],
      ),
    )
    // The location itself is not a user.
    expect(emails(ofAgent)).toEqual(isAnnotation ? ['kept'] : [])
    const names = (found: unknown) => JSON.stringify(found).match(/"Name of \w+"/g)
    expect(names(ofAgent)).toEqual(names(ofBackend))
  }
})

it('[AGT-15] an agent lists only the documents on which it has a role', async () => {
  const ids = async (token: string, data: object) => {
    const answer = await callsWith(server, token)('/v2/organizations/documents/get', data)
    return (dataOf(answer) as { id: string }[]).map(({ id }) => id)
  }
  const all = { organizationId: 'acme' }
  const two = await agentToken(server, 'bot', {
    resources: [grantOn('editor', 'editor'), grantOn('viewer', 'viewer'), grantOn('viewer', 'off')],
  })
  expect(await ids(two, all)).toEqual(['editor', 'viewer'])
  expect(await ids(two, { ...all, search: 'VIEW' })).toEqual(['viewer'])
  expect(await ids(two, { ...all, folderId: 'missing' })).toEqual([])
  expect(await ids(two, { ...all, documentIds: ['secret', 'viewer', 'missing'] })).toEqual(['viewer'])
  for (const documentIds of [undefined, ['x']])
    expect(await ids(two, { organizationId: 'nowhere', ...(documentIds && { documentIds }) })).toEqual([])
  const free = await agentToken(server, 'bot')
  expect(await ids(free, all)).toEqual(['editor', 'suggester', 'viewer'])
  expect(await ids(free, { ...all, folderId: 'missing' })).toEqual([])
  const organization = {
    type: 'organization',
    id: 'acme',
    organizationId: 'acme',
    accessRole: 'viewer',
  } as const
  expect(await ids(await agentToken(server, 'bot', { resources: [organization] }), all)).toEqual([
    'editor',
    'suggester',
    'viewer',
  ])
})

it('[AGT-15] pages of an agent have each document once, and their tokens are of no use to other callers', async () => {
  const organizationId = 'large'
  const documents = Array.from({ length: 300 }, (_, index) => ({
    documentId: `d-${String(index).padStart(3, '0')}`,
    ...(index % 7 !== 0 && { accessType: 'restricted' }),
  }))
  const add = { organizationId, documents, createOrganization: true }
  dataOf(await server.post('/v2/organizations/documents/add', add))
  const grants = documents.map(({ documentId }) => grantOn('viewer', documentId, organizationId))
  const wanted = documents.filter((_, index) => index % 7 === 0).map(({ documentId }) => documentId)
  for (const resources of [undefined, grants.slice(0, 80)]) {
    const token = await agentToken(server, 'bot', resources && { resources })
    const call = callsWith(server, token)
    const found: string[] = []
    let pageToken: string | undefined
    let pages = 0
    do {
      const request = { organizationId, pageSize: 5, ...(pageToken !== undefined && { pageToken }) }
      const { body } = await call('/v2/organizations/documents/get', request)
      const result = body.result as { data: { id: string }[]; pageToken?: string }
      expect(result.data.length).toBeLessThanOrEqual(5)
      found.push(...result.data.map(({ id }) => id))
      pageToken = result.pageToken
      pages += 1
      if (pageToken === undefined) break
      const others = [
        await callsWith(server, await agentToken(server, 'eve'))('/v2/organizations/documents/get', request),
        await server.post('/v2/organizations/documents/get', { ...request, pageToken }),
      ]
      if (pages > 1) expect(others.map(codeOf)).toEqual(['request/page-token', 'request/page-token'])
    } while (pages < 200)
    expect(found).toEqual(resources === undefined ? wanted : wanted.filter((id) => id < 'd-080'))
  }
})

it('[AGT-16] an idempotency key belongs to one agent, and a stored response needs the present rights', async () => {
  const token = await editorToken()
  const key = { 'idempotency-key': 'same-key' }
  const data = { ...place, edits: [{ insert: { at: 'end', content: '!' } }] }
  const first = await callsWith(server, token)('/v2/crdt/edit', data, key)
  expect(first.status).toBe(200)
  const again = await callsWith(server, token)('/v2/crdt/edit', data, key)
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(again.body).toEqual(first.body)
  const eve = await agentToken(server, 'eve', { resources: [grantOn('editor', 'editor')] })
  const ofEve = await callsWith(server, eve)('/v2/crdt/edit', data, key)
  expect(ofEve.headers.get('idempotent-replayed')).toBeNull()
  const ofBackend = await server.post('/v2/crdt/edit', data, key)
  expect(ofBackend.headers.get('idempotent-replayed')).toBeNull()
  const weak = await agentToken(server, 'bot', { resources: [grantOn('viewer', 'editor')] })
  expect(codeOf(await callsWith(server, weak)('/v2/crdt/edit', data, key))).toBe('agent/role-required')
  const without = await agentToken(server, 'bot', { resources: [grantOn('editor', 'viewer')] })
  expect(codeOf(await callsWith(server, without)('/v2/crdt/edit', data, key))).toBe('document/not-found')
  const nobody = await server.post('/v2/crdt/edit', data, { ...withoutKey, ...key })
  expect(codeOf(nobody)).toBe('auth/missing-credentials')
})
