import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { operationList } from '../../../src/capabilities/list.ts'
import { exampleOf } from '../../../src/rest/openapi/examples.ts'
import type { Operation } from '../../../src/rest/operation.ts'
import { RawClient } from '../../support/clients/clients.ts'
import { makeWorld } from '../../support/data/openapi-example-data.ts'
import { MarkedSecrets, secretsToldBy } from '../../support/faults/secret-markers.ts'
import { type Running, startCli } from '../../support/servers/cli.ts'
import type { Answer, Envelope, TestServer } from '../../support/servers/server.ts'
import { itLong } from '../../support/time/full-run.ts'

const secrets = new MarkedSecrets()
const workspace = {
  workspaceId: 'ws_example',
  workspaceAuthToken: secrets.make('workspace token'),
  apiKey: 'key_example',
  authToken: secrets.make('declared auth token'),
}
const own = {
  authToken: secrets.make('auth token'),
  adminToken: secrets.make('admin token'),
  jwtSecret: secrets.make('jwt secret'),
  jwtSecretPrevious: secrets.make('previous jwt secret'),
  metricsToken: secrets.make('metrics token'),
}
/** A wrong credential is as secret as a valid one. */
const wrong = secrets.make('wrong credential')
const basicToken = secrets.make('basic webhook token')
const hookUrl = `http://127.0.0.1/hook?key=${secrets.make('webhook URL')}`

const environment = {
  WEFT_BOOTSTRAP: JSON.stringify({ example: workspace }),
  WEFT_API_KEY: 'key_of_tests',
  WEFT_AUTH_TOKEN: own.authToken,
  WEFT_ADMIN_TOKEN: own.adminToken,
  WEFT_JWT_SECRET: own.jwtSecret,
  WEFT_JWT_SECRET_PREVIOUS: own.jwtSecretPrevious,
  WEFT_METRICS_TOKEN: own.metricsToken,
  WEFT_LOG_LEVEL: 'trace',
  WEFT_CALLS_PER_KEY: '0',
  // The test does not depend on durability after a power loss.
  WEFT_DURABILITY: 'process',
}

const credentials = {
  'x-service-api-key': 'key_of_tests',
  'x-service-auth-token': own.authToken,
  'x-service-workspace-id': workspace.workspaceId,
  'x-service-workspace-auth-token': workspace.workspaceAuthToken,
  'x-service-admin-token': own.adminToken,
}

/** Operations that may return secrets, with the names of these secrets. */
const showing: Readonly<Record<string, readonly string[]>> = {
  '/v2/auth/generate_token': ['told by /v2/auth/generate_token'],
  '/v2/workspace/create': ['told by /v2/workspace/create'],
  '/v2/workspace/get': ['workspace token', 'told by /v2/workspace/workspaceauthtoken/reset'],
  '/v2/workspace/apikey/create': ['told by /v2/workspace/apikey/create'],
  '/v2/workspace/authtokens/get': ['declared auth token', 'told by /v2/workspace/authtoken/reset'],
  '/v2/workspace/authtoken/reset': ['told by /v2/workspace/authtoken/reset'],
  '/v2/workspace/mintingsecret/reset': ['told by /v2/workspace/mintingsecret/reset'],
  '/v2/workspace/workspaceauthtoken/reset': ['told by /v2/workspace/workspaceauthtoken/reset'],
  '/v2/workspace/webhookconfig/get': ['basic webhook token', 'webhook URL'],
  '/v2/workspace/webhookconfig/update': ['basic webhook token', 'webhook URL'],
  '/v2/workspace/advancedwebhook/endpoints/get': ['webhook URL'],
  '/v2/workspace/advancedwebhook/endpoints/update': ['webhook URL'],
  '/v2/workspace/advancedwebhook/endpoints/secret/get': [
    'told by /v2/workspace/advancedwebhook/endpoints/secret/get',
  ],
  '/v2/workspace/advancedwebhook/endpoints/secret/rotate': [
    'told by /v2/workspace/advancedwebhook/endpoints/secret/rotate',
  ],
}

/** Secrets that the store must keep to compare, return or sign with them. It must keep no others. */
const kept: readonly string[] = [
  'workspace token',
  'declared auth token',
  'auth token',
  'basic webhook token',
  'webhook URL',
  'told by /v2/workspace/create',
  'told by /v2/workspace/apikey/create',
  'told by /v2/workspace/authtoken/reset',
  'told by /v2/workspace/mintingsecret/reset',
  'told by /v2/workspace/workspaceauthtoken/reset',
  'told by /v2/workspace/advancedwebhook/endpoints/secret/get',
  'told by /v2/workspace/advancedwebhook/endpoints/secret/rotate',
]

let data: string
let running: Running
let url: string
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'weft-secrets-'))
  running = startCli(
    ['serve', '--host', '127.0.0.1', '--port', '0', '--data-dir', join(data, 'data')],
    data,
    environment,
  )
  const [, port] = await running.printed(/"port":(\d+)/)
  url = `http://127.0.0.1:${port}`
})
afterAll(async () => {
  running?.child.kill('SIGKILL')
  await running?.ended
  await rm(data, { recursive: true, force: true, maxRetries: 20 })
})

/** Places at which a secret was seen that must not be there. */
const leaks: string[] = []
const note = (where: string, text: string, allowed: readonly string[] = []): void => {
  for (const name of secrets.in(text)) if (!allowed.includes(name)) leaks.push(`${where}: ${name}`)
}

const post: TestServer['post'] = async (path, given, headers = {}) => {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: Object.entries({ ...credentials, 'content-type': 'application/json', ...headers }),
    body: JSON.stringify({ data: given }),
  })
  const text = await response.text()
  const body = JSON.parse(text) as Envelope
  const route = path.replace(/\?.*/, '')
  if (response.status === 200) for (const told of secretsToldBy(body)) learn(route, told)
  note(`${route} ${response.status}`, text, response.status === 200 ? showing[route] : [])
  note(`headers of ${route}`, JSON.stringify([...response.headers]))
  return { status: response.status, headers: response.headers, body } satisfies Answer
}

/** Other operations may return a configured secret, or one that was returned before. */
function learn(path: string, told: string): void {
  const name = `told by ${path}`
  if (secrets.in(told).length === 0 && showing[path]?.includes(name)) secrets.learn(name, told)
}

async function succeeding(operation: Operation): Promise<object> {
  const told: Record<string, string> = { ...(await makeWorld({ post }, operation.path)) }
  const repeated = { apiKey: 'key_of_tests', authToken: own.authToken }
  const known = exampleOf(operation.request, 'request') as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(known).map(([name, shown]) => [
      name,
      told[name] ??
        ('authToken' in known ? ({ ...repeated } as Record<string, string>)[name] : undefined) ??
        shown,
    ]),
  )
}

const wrongHeaders = Object.keys(credentials).map((name) => ({ [name]: wrong }))

itLong(
  '[SEC-6] never shows a valid, wrong or expired secret in a log line, an error, a page or a response that must not contain it',
  async () => {
    const endpoints = '/v2/workspace/advancedwebhook/endpoints'
    let succeeded = 0
    for (const operation of operationList) {
      const { path } = operation
      const body = await succeeding(operation)
      if (path.startsWith(`${endpoints}/`) && path !== `${endpoints}/create`)
        await post(`${endpoints}/update`, { endpointId: 'billing', url: hookUrl })
      const answer = await post(path, body, {
        'x-request-id': 'request-of-the-test',
        // The stored response can be read with this key.
        'idempotency-key': secrets.make('idempotency key'),
      })
      if (answer.status === 200) succeeded += 1
      for (const headers of wrongHeaders) await post(path, body, headers)
      await post(`${path}?token=${own.authToken}&secret=${wrong}`, { [wrong]: wrong, userId: [wrong] })
      await post(path, { ...body, organizationId: { [own.authToken]: wrong }, authToken: wrong })
    }
    expect(succeeded).toBeGreaterThan(operationList.length - 3)
    const wrapping = { authToken: basicToken, rawNotificationUrl: hookUrl }
    await post('/v2/workspace/webhookconfig/update', {
      useWebhookService: true,
      webhookServiceConfig: wrapping,
    })
    await post('/v2/workspace/webhookconfig/get', {})
    await post('/v2/commentannotations/get', { organizationId: 'acme', documentId: 'report' })
    await visitPages()
    await visitSockets()
    running.child.kill('SIGTERM')
    const { code, out, err } = await running.ended
    expect(code).toBe(0)
    // Checks that the log has all lines.
    expect(out).toContain('"level":"debug"')
    expect(out).toContain('request-of-the-test')
    note('standard output', out)
    note('standard error', err)
    expect([...new Set(leaks)]).toEqual([])
  },
  300_000,
)

it('[SEC-7] writes no token of an operator or user, no configured signing secret and no wrong credential to a file', () => {
  const found = secrets.inFilesOf(join(data, 'data'))
  expect(found.filter((each) => !kept.some((name) => each.endsWith(`: ${name}`)))).toEqual([])
  // Checks that the search finds stored secrets.
  expect(found.filter((each) => each.endsWith(': auth token')).length).toBeGreaterThan(0)
})

async function visitPages(): Promise<void> {
  const bearers = [own.metricsToken, wrong, own.adminToken].map((token) => `Bearer ${token}`)
  for (const path of [
    '/',
    '/healthz',
    '/readyz',
    '/version',
    '/metrics',
    '/openapi.json',
    '/docs',
    '/nothing',
    `/sync/a/b/c?token=${wrong}`,
  ]) {
    for (const authorization of bearers) {
      const answer = await fetch(`${url + path}${path.includes('?') ? '&' : '?'}secret=${wrong}`, {
        headers: { authorization, ...credentials },
      })
      note(`page ${path.replace(/\?.*/, '')}`, (await answer.text()) + JSON.stringify([...answer.headers]))
    }
  }
  const refused = await fetch(`${url}/backup`, { headers: { 'x-service-admin-token': wrong } })
  note('page /backup', await refused.text())
}

/** A token as a backend mints it. */
async function minted(name: string, secret: string, exp: number, claims: object = {}): Promise<string> {
  const whole = { ws: workspace.workspaceId, key: 'key_of_tests', ...claims }
  const token = await new SignJWT(whole)
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('weft')
    .setSubject('ann')
    .setIssuedAt()
    .setExpirationTime(exp)
    .sign(new TextEncoder().encode(secret))
  return secrets.learn(name, token)
}

async function visitSockets(): Promise<void> {
  const now = Math.floor(Date.now() / 1000)
  const good = await minted('good JWT', own.jwtSecret, now + 3600)
  const tokens: readonly (readonly [string, number | null])[] = [
    [good, null],
    [await minted('JWT of the previous secret', own.jwtSecretPrevious, now + 3600), null],
    [await minted('JWT that ends soon', own.jwtSecret, now + 2), 4401],
    [await minted('expired JWT', own.jwtSecret, now - 3600), 4401],
    [await minted('JWT of somebody else', wrong, now + 3600), 4401],
    [await minted('JWT without its claims', own.jwtSecret, now + 3600, { ws: 7 }), 4401],
    [await minted('JWT of no tenant', own.jwtSecret, now + 3600, { key: 'nobody' }), 4401],
    [wrong, 4401],
  ]
  const socketUrl = `${url.replace('http', 'ws')}/sync/acme/report/main`
  for (const [token, expected] of tokens) {
    for (const client of [
      await RawClient.connect(`${socketUrl}?token=${token}`),
      await RawClient.connect(socketUrl, { authorization: `Bearer ${token}` }),
    ]) {
      const end = expected === null ? null : await client.closed
      expect(end?.code ?? null).toBe(expected)
      if (end === null) await client.roundTrip()
      note('close reason', end?.reason ?? '')
      note('messages', client.received.map((bytes) => Buffer.from(bytes).toString('latin1')).join(''))
      client.end()
    }
  }
  for (const path of ['/sync/a/b', '/sync/%zz/b/c', '/sync/a/b/c/d']) {
    const client = await RawClient.connect(`${url.replace('http', 'ws')}${path}?token=${good}`)
    note('close reason', (await client.closed).reason)
  }
  await post('/v2/auth/revoke_tokens', { userId: 'ann' })
  const revoked = await RawClient.connect(`${socketUrl}?token=${good}`)
  note('close reason', (await revoked.closed).reason)
}
