import { decodeJwt } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sendRaw } from '../../support/clients/raw-websocket.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
let open: TestServer
beforeAll(async () => {
  server = await startTestServer()
  open = await startTestServer({ auth: 'none' })
})
afterAll(() => Promise.all([server.stop(), open.stop()]))

const path = '/v2/auth/generate_token'
const user = { userId: 'ann', userProperties: { name: 'Ann', email: 'ann@example.com' } }
const generate = (more: object = {}) => server.post(path, { ...user, ...more })
const withResource = (resource: object) => generate({ permissions: { resources: [resource] } })
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds

it('[ACC-20] rejects a call without API key or auth token with INVALID_ARGUMENT, and states which of them is missing', async () => {
  const noKey = await server.post(path, user, { 'x-service-api-key': '' })
  expect(noKey).toMatchObject({ status: 400, body: { error: { status: 'INVALID_ARGUMENT' } } })
  expect(noKey.body.error?.message).toContain('API key is missing')
  const noToken = await server.post(path, user, { 'x-service-auth-token': '' })
  expect(noToken).toMatchObject({ status: 400, body: { error: { status: 'INVALID_ARGUMENT' } } })
  expect(noToken.body.error?.message).toContain('auth token is missing')
})

it('[ACC-21] rejects an unknown key and a wrong token with UNAUTHENTICATED and identical responses', async () => {
  const unknownKey = await server.post(path, user, { 'x-service-api-key': 'key_unknown' })
  const wrongToken = await server.post(path, user, { 'x-service-auth-token': 'wrong' })
  const both = await server.post(path, user, {
    'x-service-api-key': '__proto__',
    'x-service-auth-token': '__proto__',
  })
  expect(unknownKey.status).toBe(401)
  expect(unknownKey.body.error?.status).toBe('UNAUTHENTICATED')
  expect(wrongToken).toMatchObject({ status: 401, body: unknownKey.body })
  expect(both).toMatchObject({ status: 401, body: unknownKey.body })
})

it('[ACC-22] checks credentials before the body', async () => {
  const answer = await server.post(path, { nonsense: true }, { 'x-service-auth-token': 'wrong' })
  expect(answer.status).toBe(401)
})

it('[ACC-23] reports rejected credentials by reason in the metrics', async () => {
  await server.post(path, user, { 'x-service-auth-token': 'wrong' })
  await server.post(path, user, { 'x-service-auth-token': '' })
  const text = await (await fetch(`${server.url}/metrics`)).text()
  expect(text).toMatch(/weft_auth_failures_total\{reason="wrong_credentials"\} [1-9]/)
  expect(text).toMatch(/weft_auth_failures_total\{reason="missing_credentials"\} [1-9]/)
})

it('[ACC-30] returns a JWT with the user, the workspace and the API key, and its expiry in seconds, by default two days from now', async () => {
  const soonest = inSeconds(172_800)
  const { token, expiresAt } = dataOf(await generate()) as { token: string; expiresAt: number }
  expect(decodeJwt(token)).toMatchObject({
    iss: 'weft',
    sub: 'ann',
    name: 'Ann',
    email: 'ann@example.com',
    admin: false,
    ws: server.credentials.workspaceId,
    key: server.credentials.apiKey,
    exp: expiresAt,
  })
  expect(decodeJwt(token)).not.toHaveProperty('grants')
  expect(expiresAt).toBeGreaterThanOrEqual(soonest)
  expect(expiresAt).toBeLessThanOrEqual(inSeconds(172_800))
})

it('[ACC-31] by default, grants the role editor on a resource; adds the organization id to a resource that is an organization', async () => {
  const expiresAt = inSeconds(60)
  const resources = [
    { type: 'organization', id: 'acme', accessRole: 'viewer' },
    { type: 'document', id: 'plan', organizationId: 'acme', expiresAt },
    { type: 'folder', id: 'drafts', organizationId: 'acme' },
  ]
  const token = await server.token('ann', { resources: resources as never, isAdmin: true })
  expect(decodeJwt(token)).toMatchObject({
    admin: true,
    grants: [
      { type: 'organization', id: 'acme', organizationId: 'acme', accessRole: 'viewer' },
      { type: 'document', id: 'plan', organizationId: 'acme', accessRole: 'editor', expiresAt },
      { type: 'folder', id: 'drafts', organizationId: 'acme', accessRole: 'editor' },
    ],
  })
  expect(decodeJwt(await server.token('ann', { resources: [] })).grants).toEqual([])
})

it.each([
  ['a document without organization', { type: 'document', id: 'plan' }, 'organizationId'],
  [
    'an organization with another organization',
    { type: 'organization', id: 'a', organizationId: 'b' },
    'organizationId',
  ],
  ['an end before all time', { type: 'organization', id: 'a', expiresAt: -1 }, 'expiresAt'],
  ['an unknown type', { type: 'planet', id: 'a' }, 'type'],
  ['an unknown role', { type: 'organization', id: 'a', accessRole: 'owner' }, 'accessRole'],
  ['an invalid id', { type: 'organization', id: '..' }, 'id'],
])('[ACC-32] rejects an invalid resource, and states its position: %s', async (_name, resource, member) => {
  const { status, body } = await withResource(resource)
  expect(status).toBe(400)
  expect(body.error?.status).toBe('INVALID_ARGUMENT')
  expect(body.error?.details?.issues?.[0]?.path).toBe(`/data/permissions/resources/0/${member}`)
})

it('[ACC-33] issues tokens that are valid for one minute to two days', async () => {
  for (const expiresInSeconds of [60, 172_800])
    expect((await generate({ expiresInSeconds })).status).toBe(200)
  for (const expiresInSeconds of [59, 172_801, 60.5, '60'])
    expect((await generate({ expiresInSeconds })).body.error?.details?.issues?.[0]?.path).toBe(
      '/data/expiresInSeconds',
    )
})

it('[ACC-34] rejects a request for a token that would be too large for an HTTP header', async () => {
  const resources = Array.from({ length: 500 }, (_, index) => ({
    type: 'organization',
    id: `organization-${index}`,
  }))
  const { status, body } = await generate({ permissions: { resources } })
  expect(status).toBe(400)
  expect(body.error?.message).toContain('fewer resources')
})

it('[API-50] accepts any well-formed id as the id of a user', async () => {
  for (const userId of ['__proto__', 'a/b', 'Ä😀', 'x'.repeat(512), ' '])
    expect(decodeJwt(await server.token(userId)).sub).toBe(userId)
  for (const userId of ['', '.', 'x'.repeat(513), 'a\nb', '\ud800', 7, null])
    expect((await server.post(path, { ...user, userId })).status).toBe(400)
})

it('[ACC-40] when authentication is off, uses the first API key for a call without credentials, but still checks credentials that a call has', async () => {
  const none = { 'x-service-api-key': '', 'x-service-auth-token': '' }
  const { token } = dataOf(await open.post(path, user, none)) as { token: string }
  expect(decodeJwt(token).key).toBe(open.credentials.apiKey)
  expect((await open.post(path, user)).status).toBe(200)
  expect((await open.post(path, user, { 'x-service-auth-token': 'wrong' })).status).toBe(401)
  expect((await open.post(path, user, { 'x-service-auth-token': '' })).status).toBe(400)
})

const get = (port: number, headers: string) => sendRaw(port, `GET /healthz HTTP/1.1\r\n${headers}\r\n\r\n`)

it.each([
  'evil.example',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  '192.168.0.1',
  'localhost@evil.example',
  '',
])('[ACC-41] when authentication is off, rejects a request with the Host header "%s"', async (host) => {
  const answer = await get(open.port, `host: ${host}`)
  expect(answer.status).toBe(403)
  expect(JSON.parse(answer.body)).toMatchObject({ error: { status: 'PERMISSION_DENIED' } })
  expect((await get(server.port, `host: ${host}`)).status).toBe(200)
})

it('[ACC-41] when authentication is off, serves requests whose Host header is a loopback host with any port', async () => {
  for (const host of ['localhost', `127.0.0.1:${open.port}`, '[::1]:1', '127.9.9.9', 'LOCALHOST:80'])
    expect((await get(open.port, `host: ${host}`)).status).toBe(200)
})

it('[ACC-42] when authentication is off, rejects requests from pages of other origins', async () => {
  for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example'])
    expect((await get(open.port, `host: localhost\r\norigin: ${origin}`)).status).toBe(403)
  for (const origin of ['http://localhost:3000', 'http://127.0.0.1', 'https://[::1]:5173'])
    expect((await get(open.port, `host: localhost\r\norigin: ${origin}`)).status).toBe(200)
})
