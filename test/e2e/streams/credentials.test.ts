import { setTimeout as sleep } from 'node:timers/promises'
import { decodeJwt, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually } from '../../support/clients/clients.ts'
import { ContentStream } from '../../support/clients/content-stream.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
let documents = 0

beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

async function make() {
  documents += 1
  const ids = { organizationId: 'acme', documentId: `watched-${documents}`, editorId: 'main' }
  dataOf(await server.post('/v2/crdt/add', { ...ids, type: 'text', data: '' }))
  return ids
}

type Ids = Awaited<ReturnType<typeof make>>

const openingOf = (ids: Ids) => ({ ...ids, edit: { insert: { at: 'end' } } })

const textOf = async (ids: Ids): Promise<string> =>
  (dataOf(await server.post('/v2/crdt/get', ids)) as [{ data: string }])[0].data

/** Calls an operation on the workspace. */
async function ofWorkspace(path: string, data: object): Promise<unknown> {
  const { workspaceId, workspaceAuthToken } = server.credentials
  const headers = {
    'x-service-workspace-id': workspaceId,
    'x-service-workspace-auth-token': workspaceAuthToken,
  }
  return dataOf(await server.post(`/v2/workspace/${path}`, data, headers))
}

/** Creates an API key. Returns its name, and the headers of its calls. */
async function newKey() {
  const key = { apiKeyName: 'Streams', type: 'testing' }
  const { apiKey, authToken } = (await ofWorkspace('apikey/create', key)) as {
    apiKey: string
    authToken: string
  }
  return { apiKey, headers: { 'x-service-api-key': apiKey, 'x-service-auth-token': authToken } }
}

const reset = async (apiKey: string, graceSeconds: number) =>
  ((await ofWorkspace('authtoken/reset', { apiKey, graceSeconds })) as { newAuthToken: { token: string } })
    .newAuthToken.token

/** Creates a document of a new API key, and opens a stream to it. */
async function openWithKey() {
  documents += 1
  const ids = { organizationId: 'acme', documentId: `watched-${documents}`, editorId: 'main' }
  const { apiKey, headers } = await newKey()
  dataOf(await server.post('/v2/crdt/add', { ...ids, type: 'text', data: '' }, headers))
  const writer = await ContentStream.open(server, openingOf(ids), headers)
  writer.text('One.')
  await writer.received(4)
  const text = async (authToken: string) => {
    const valid = { ...headers, 'x-service-auth-token': authToken }
    return (dataOf(await server.post('/v2/crdt/get', ids, valid)) as [{ data: string }])[0].data
  }
  return { apiKey, writer, text }
}

/** Returns the same token with an end that `/v2/auth/generate_token` does not permit. */
const shortened = (token: string, seconds: number): Promise<string> =>
  new SignJWT(decodeJwt(token))
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
    .sign(new TextEncoder().encode(server.credentials.jwtSecret))

/** Opens a stream as an agent. */
async function openAsAgent(ids: Ids, more: object = {}, seconds = 3_600): Promise<ContentStream> {
  const resource = { type: 'document', organizationId: 'acme', id: ids.documentId, accessRole: 'editor' }
  const request = {
    userId: `agent-${ids.documentId}`,
    userProperties: { name: 'Agent', email: '' },
    agent: true,
    permissions: { resources: [resource] },
    ...more,
  }
  const { token } = dataOf(await server.post('/v2/auth/generate_token', request)) as { token: string }
  const headers = {
    'x-service-api-key': '',
    'x-service-auth-token': '',
    authorization: `Bearer ${await shortened(token, seconds)}`,
  }
  const writer = await ContentStream.open(server, openingOf(ids), headers)
  writer.text('One.')
  await writer.received(4)
  return writer
}

it('[STRM-80] stores no piece that arrives after the reset of the auth token, and ends the stream', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { apiKey, writer, text } = await openWithKey()
    const token = await reset(apiKey, 0)
    writer.text('Two.')
    expect(await writer.error()).toMatchObject({
      status: 'UNAUTHENTICATED',
      details: { code: 'auth/invalid-credentials' },
    })
    expect(await text(token)).toBe('One.')
  }
})

it('[STRM-80] stores no piece after the response to a reset while pieces arrive without a pause', async () => {
  const { apiKey, writer, text } = await openWithKey()
  const timer = setInterval(() => writer.text('x'), 1)
  await sleep(100)
  const token = await reset(apiKey, 0)
  const stored = await text(token)
  await writer.error()
  clearInterval(timer)
  await sleep(200)
  expect(await text(token)).toBe(stored)
})

it('[STRM-80] does not end or withdraw a stream by request of a writer whose auth token was replaced', async () => {
  const { apiKey, writer, text } = await openWithKey()
  const token = await reset(apiKey, 0)
  writer.line({ withdraw: true }).endBody()
  expect(await writer.error()).toMatchObject({ status: 'UNAUTHENTICATED' })
  expect(await text(token)).toBe('One.')
})

it('[STRM-81] ends a quiet stream when its auth token is replaced', async () => {
  const { apiKey, writer } = await openWithKey()
  await reset(apiKey, 0)
  expect(await writer.error()).toMatchObject({ details: { code: 'auth/invalid-credentials' } })
})

it('[STRM-81] writes with a replaced auth token until the end of its grace, and then ends the stream', async () => {
  const { apiKey, writer, text } = await openWithKey()
  const before = Date.now()
  const token = await reset(apiKey, 2)
  writer.text('Two.')
  await writer.received(8)
  expect(await writer.error()).toMatchObject({ details: { code: 'auth/invalid-credentials' } })
  expect(Date.now() - before).toBeGreaterThanOrEqual(1_900)
  expect(await text(token)).toBe('One.Two.')
})

it('[STRM-81] does not end the streams of other API keys and of current tokens', async () => {
  const { apiKey, writer } = await openWithKey()
  const other = await openWithKey()
  await reset(apiKey, 0)
  await writer.error()
  await sleep(300)
  const { received } = await other.writer.text('Two.').end()
  expect(received).toBe(8)
})

it.each([
  ['the agent are revoked', (ids: Ids) => `agent-${ids.documentId}`],
  ['the user for whom it acts are revoked', (ids: Ids) => `boss-${ids.documentId}`],
])('[STRM-82] ends the stream of an agent when the tokens of %s', async (_name, userOf) => {
  for (const isQuiet of [false, true]) {
    const ids = await make()
    const writer = await openAsAgent(ids, { onBehalfOf: `boss-${ids.documentId}` })
    dataOf(await server.post('/v2/auth/revoke_tokens', { userId: userOf(ids) }))
    if (!isQuiet) writer.text('Two.')
    expect(await writer.error()).toMatchObject({
      status: 'UNAUTHENTICATED',
      details: { code: 'agent/invalid-token', reason: 'revoked' },
    })
    expect(await textOf(ids)).toBe('One.')
  }
})

it('[STRM-82] ends the stream of an agent when its token expires', async () => {
  for (const isQuiet of [false, true]) {
    const ids = await make()
    const writer = await openAsAgent(ids, {}, 3)
    const timer = setInterval(() => !isQuiet && writer.text('x'), 20)
    const error = await writer.error()
    clearInterval(timer)
    expect(error).toMatchObject({ details: { code: 'agent/invalid-token', reason: 'expired' } })
    const text = await textOf(ids)
    await sleep(100)
    expect(await textOf(ids)).toBe(text)
  }
})

it('[STRM-82] ends a quiet stream of an agent when it loses its role', async () => {
  const ids = await make()
  const writer = await openAsAgent(ids)
  const { organizationId, documentId } = ids
  const documents = [{ documentId, accessType: 'restricted' }]
  dataOf(await server.post('/v2/organizations/documents/update', { organizationId, documents }))
  expect(await writer.error()).toMatchObject({ details: { code: 'document/not-found' } })
})

it('[STRM-82] ends a quiet stream of an agent when its document is disabled', async () => {
  const ids = await make()
  const writer = await openAsAgent(ids)
  const { organizationId, documentId } = ids
  const disabled = { organizationId, documents: [{ documentId, disabled: true }] }
  dataOf(await server.post('/v2/organizations/documents/update', disabled))
  expect(await writer.error()).toMatchObject({ details: { code: 'document/disabled' } })
})

it('[FEED-67] ends the stream of the feed when its auth token is replaced', async () => {
  const { apiKey, headers } = await newKey()
  dataOf(await server.post('/v2/workspace/feed/update', { enabled: true }, headers))
  const response = await fetch(`${server.url}/v2/feed/stream`, { headers })
  expect(response.status).toBe(200)
  let isClosed = false
  const text = response.text().finally(() => {
    isClosed = true
  })
  await sleep(200)
  expect(isClosed).toBe(false)
  await reset(apiKey, 0)
  await eventually(() => isClosed)
  expect(await text).toContain('auth/invalid-credentials')
})

it('[FEED-67] gives no events to a read whose auth token is replaced while it waits', async () => {
  const { apiKey, headers } = await newKey()
  dataOf(await server.post('/v2/workspace/feed/update', { enabled: true }, headers))
  const read = server.post('/v2/feed/get', { from: 'now', waitSeconds: 20 }, headers)
  await eventually(async () => (await metric(server, 'weft_feed_readers')) === 1)
  const next = { ...headers, 'x-service-auth-token': await reset(apiKey, 0) }
  const document = { organizationId: 'acme', createOrganization: true, documents: [{ documentId: 'd' }] }
  dataOf(await server.post('/v2/organizations/documents/add', document, next))
  const { status, body } = await read
  expect([status, body.error?.details?.code]).toEqual([401, 'auth/invalid-credentials'])
})
