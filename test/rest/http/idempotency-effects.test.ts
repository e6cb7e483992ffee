import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DocumentLog, StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { idempotencyKeyOf } from '../../../src/rest/idempotency/idempotent-call.ts'
import { failingIn } from '../../support/data/audit.ts'
import { callWithKey } from '../../support/data/idempotency.ts'
import { type ExampleServer, makeWorld, startExampleServer } from '../../support/data/openapi-example-data.ts'
import { dataOf, type Envelope, startTestServer } from '../../support/servers/server.ts'
import { withLog } from '../../support/stores/pausable-engine.ts'
import { keysHolding, notAudited } from '../../support/stores/stored-keys.ts'

const organizationId = 'acme'
const document = { organizationId, documentId: 'report' }
const addComments = '/v2/commentannotations/comments/add'
const comment = (text: string) => ({
  ...document,
  annotationId: 'remark-1',
  actionUser: { userId: 'ann' },
  comments: [{ from: { userId: 'ann' }, text }],
})
const activity = (actionType: string) => ({
  ...document,
  activities: [
    { featureType: 'custom', actionType, actionUser: { userId: 'ann' }, targetEntityId: 'report' },
  ],
})
const notification = (text: string) => ({
  ...document,
  actionUser: { userId: 'bob' },
  displayHeadlineMessageTemplate: text,
  displayBodyMessage: 'Have a look.',
  notifyUsers: [{ userId: 'ann' }],
})

let example: ExampleServer
beforeAll(async () => {
  // With the memory engine, a call ends before the server reads the next one, so that no calls are
  // concurrent.
  example = await startExampleServer({ engine: 'level' })
  await makeWorld(example.server, '')
})
afterAll(() => example?.server.stop())

const call = (path: string, data: unknown, key: string, headers = {}) =>
  callWithKey(example, path, data, { 'idempotency-key': key, ...headers })
const errorOf = ({ text }: { readonly text: string }) => (JSON.parse(text) as Envelope).error

/** Number of times that `text` occurs in the response of an operation. */
async function timesIn(path: string, data: object, text: string): Promise<number> {
  return JSON.stringify(dataOf(await example.server.post(path, data))).split(text).length - 1
}

it.each([
  ['comment', addComments, comment('only one'), '/v2/commentannotations/comments/get', 'only one'],
  ['activity', '/v2/activities/add', activity('document.once'), '/v2/activities/get', 'document.once'],
  ['notification', '/v1/notifications/add', notification('one of'), '/v2/notifications/get', 'one of'],
])(
  '[IDEM-3] creates one %s for 20 concurrent calls with the same key, and returns the same response to all of them',
  async (_what, path, data, get, text) => {
    const key = randomUUID()
    const answers = await Promise.all(Array.from({ length: 20 }, () => call(path, data, key)))
    expect(new Set(answers.map((answer) => `${answer.status} ${answer.text}`)).size).toBe(1)
    expect(answers[0]?.status).toBe(200)
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1)
    const where = get.includes('comments') ? { ...document, annotationId: 'remark-1' } : { organizationId }
    expect(await timesIn(get, where, text)).toBe(await timesOfOne(get, where, path, data, text))
  },
)

/** Activities and notifications contain the text several times. One more item shows how often. */
async function timesOfOne(get: string, where: object, path: string, data: object, text: string) {
  const before = await timesIn(get, where, text)
  dataOf(await example.server.post(path, data))
  return (await timesIn(get, where, text)) - before
}

it('[IDEM-5] rejects a key that was used for another operation or another body, and states the difference', async () => {
  const key = randomUUID()
  const first = await call(addComments, comment('the first'), key)
  const another = await call(addComments, comment('another'), key)
  expect(errorOf(another)).toMatchObject({ status: 'INVALID_ARGUMENT' })
  expect(errorOf(another)?.message).toContain('a different body')
  const elsewhere = await call('/v2/activities/add', activity('document.elsewhere'), key)
  expect(errorOf(elsewhere)).toMatchObject({ status: 'INVALID_ARGUMENT' })
  expect(errorOf(elsewhere)?.message).toContain(addComments)
  expect(await call(addComments, comment('the first'), key)).toEqual({ ...first, replayed: true })
  expect(await timesIn('/v2/activities/get', { organizationId }, 'document.elsewhere')).toBe(0)
})

it('[IDEM-6] stores the rejection of a call whose resource is missing, and returns it again after the resource was added', async () => {
  const key = randomUUID()
  const missing = { organizationId: 'later', folders: [{ folderId: 'a' }], createOrganization: false }
  const first = await call('/v1/organizations/folders/add', missing, key)
  expect(errorOf(first)).toMatchObject({ status: 'NOT_FOUND' })
  await example.server.post('/v2/organizations/add', { organizations: [{ organizationId: 'later' }] })
  const again = await call('/v1/organizations/folders/add', missing, key)
  expect(again).toEqual({ ...first, replayed: true })
  expect(await call('/v1/organizations/folders/add', missing, randomUUID())).toMatchObject({ status: 200 })
})

it('[IDEM-6] does not store a rejection for invalid input or for a temporary reason', async () => {
  const key = randomUUID()
  const wrong = { ...comment('right'), comments: 'none' }
  expect(errorOf(await call(addComments, wrong, key))).toMatchObject({ status: 'INVALID_ARGUMENT' })
  const stranger = await call(addComments, comment('right'), key, { 'x-service-auth-token': 'wrong' })
  expect(errorOf(stranger)).toMatchObject({ status: 'UNAUTHENTICATED' })
  const update = { ...document, editorId: 'main', type: 'text', data: 'x' }
  const { version } = dataOf(await example.server.post('/v2/crdt/update', update)) as { version: string }
  const stale = { ...update, data: 'y', ifVersion: `${Number.parseInt(version, 10)}.999` }
  for (let times = 0; times < 2; times++)
    expect(await call('/v2/crdt/update', stale, `${key}-stale`)).toMatchObject({
      status: 409,
      replayed: false,
    })
  expect(await call(addComments, comment('right'), key)).toMatchObject({ status: 200, replayed: false })
})

it('[IDEM-7] separates the keys of different callers', async () => {
  const key = randomUUID()
  const make = { type: 'testing', apiKeyName: 'of another' }
  const made = await call('/v2/workspace/apikey/create', make, key)
  const other = dataOf({ ...made, headers: new Headers(), body: JSON.parse(made.text) as Envelope }) as {
    apiKey: string
    authToken: string
  }
  const headers = { 'x-service-api-key': other.apiKey, 'x-service-auth-token': other.authToken }
  const organizations = { organizations: [{ organizationId: 'mine' }] }
  for (const show of [{}, headers]) {
    const answer = await call('/v2/organizations/add', organizations, key, show)
    expect(answer).toMatchObject({ status: 200, replayed: false })
  }
  const workspace = { ownerEmail: 'ada@example.com' }
  expect(await call('/v2/workspace/create', workspace, key)).toMatchObject({ status: 200, replayed: false })
  expect(await call('/v2/workspace/apikey/create', make, key)).toEqual({ ...made, replayed: true })
})

it('[IDEM-12] stores no idempotency key, created token or response text as plain text in its records', async () => {
  const data = await mkdtemp(join(tmpdir(), 'weft-idempotency-'))
  try {
    const server = await startTestServer({ engine: 'level', dataDir: data })
    const key = `key-${randomUUID()}`
    const reset = { apiKey: server.credentials.apiKey }
    const headers = {
      'idempotency-key': key,
      'x-service-workspace-id': server.credentials.workspaceId,
      'x-service-workspace-auth-token': server.credentials.workspaceAuthToken,
    }
    const path = '/v2/workspace/authtoken/reset'
    const first = dataOf(await server.post(path, reset, headers)) as { newAuthToken: { token: string } }
    const { token } = first.newAuthToken
    expect(dataOf(await server.post(path, reset, headers))).toEqual(first)
    const later = { 'x-service-auth-token': token }
    const endpoint = { organizations: [{ organizationId: 'a-word-of-ours' }] }
    await server.post('/v2/organizations/add', endpoint, { ...later, 'idempotency-key': `${key}-2` })
    await server.stop()
    expect(await keysHolding(data, [key])).toEqual([])
    // Only the list of tokens has the token, and only the organization has the word.
    const found = [...(await keysHolding(data, [token])), ...(await keysHolding(data, ['a-word-of-ours']))]
    expect(found.length).toBeGreaterThan(1)
    expect(found.filter((each) => each.includes('idempotency'))).toEqual([])
    expect(notAudited(await keysHolding(data, ['/v2/workspace/authtoken/reset'])).length).toBe(1)
  } finally {
    await rm(data, { recursive: true, force: true, maxRetries: 20 })
  }
})

it('[IDEM-13] stores no idempotency record for a call without the header idempotency-key', async () => {
  const engine = await openMemoryEngine()
  const parts: string[] = []
  const { kv } = engine
  const commit = kv.commit.bind(kv)
  kv.commit = (part, ...more) => {
    parts.push(String(part[0]))
    return commit(part, ...more)
  }
  const server = await startTestServer({}, { engine })
  try {
    const data = { organizations: [{ organizationId }] }
    await server.post('/v2/organizations/add', data)
    expect(parts).toContain('organization')
    expect(parts).not.toContain('idempotency')
    await server.post('/v2/organizations/add', data, { 'idempotency-key': 'a' })
    expect(parts).toContain('idempotency')
    expect(idempotencyKeyOf({})).toBeNull()
  } finally {
    await server.stop()
  }
})

it('[IDEM-14] allows pages of other domains to send the header idempotency-key and to read idempotent-replayed', async () => {
  const url = `${example.server.url}/v2/organizations/add`
  const origin = 'https://www.example.com'
  const preflight = await fetch(url, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST' },
  })
  expect(preflight.headers.get('access-control-allow-headers')).toContain('idempotency-key')
  expect(preflight.headers.get('access-control-expose-headers')).toContain('idempotent-replayed')
})

it('[IDEM-14] in /openapi.json, describes the header idempotency-key only for operations that change something', async () => {
  const document = (await (await fetch(`${example.server.url}/openapi.json`)).json()) as {
    paths: Record<string, { post: { parameters?: readonly { $ref: string }[]; responses: object } }>
    components: { parameters: Record<string, { name: string }> }
  }
  const { parameters } = document.components
  const described = (path: string) => {
    const { post } = document.paths[path] ?? {}
    const names = (post?.parameters ?? []).map(({ $ref }) => parameters[$ref.split('/').at(-1) ?? '']?.name)
    return [...names, JSON.stringify(post?.responses).includes('"idempotent-replayed"')]
  }
  expect(described(addComments)).toEqual(['idempotency-key', true])
  expect(described('/v2/organizations/update')).toEqual(['idempotency-key', true])
  expect(described('/v2/organizations/get')).toEqual([false])
})

it.each([true, false])(
  '[IDEM-8] with `ifVersion`, replaces content once, whether or not a first call with unknown outcome has replaced it (%s)',
  async (wasDone) => {
    const { engine, fail } = failingIn('idempotency', await openMemoryEngine())
    let isDown = false
    const append: DocumentLog['append'] = async (...given) => {
      if (!isDown) return engine.log.append(...given)
      fail()
      if (wasDone) return engine.log.append(...given)
      isDown = false
      throw new StoreUnavailableError('the test has the store be away')
    }
    const server = await startTestServer({}, { engine: withLog(engine, () => ({ append })) })
    const address = { organizationId, documentId: 'd', editorId: 'main' }
    const content = { ...address, type: 'text', data: 'Hello' }
    const { version } = dataOf(await server.post('/v2/crdt/add', content)) as { version: string }
    const change = { ...address, type: 'text', data: 'Hello world', baseVersion: version }
    const update = (data: object, headers = {}) => server.post('/v2/crdt/update', data, headers)
    const key = { 'idempotency-key': 'first' }
    isDown = true
    expect((await update(change, key)).status).toBe(wasDone ? 200 : 503)
    isDown = false
    expect((await update(change, key)).body.error).toMatchObject({
      status: 'ABORTED',
      details: { outcome: 'unknown' },
    })
    const again = await update({ ...change, ifVersion: version })
    expect(again.status).toBe(wasDone ? 409 : 200)
    const [read] = dataOf(await server.post('/v2/crdt/get', address)) as { data: string }[]
    expect(read?.data).toBe('Hello world')
    await server.stop()
  },
)
