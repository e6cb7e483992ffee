import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Config } from '../../../src/core/config/config.ts'
import { eventually, openEditor, RawClient, syncedEditor } from '../../support/clients/clients.ts'
import { type Answer, dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let data: string
let server: TestServer
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'weft-rotation-'))
})
afterEach(async () => {
  await server?.stop()
  await rm(data, { recursive: true, force: true, maxRetries: 20 })
})

const user = { userId: 'ann', userProperties: { name: 'Ann', email: 'ann@example.com' } }

/** Makes one call after another with the current `headers`. */
class Caller {
  readonly statuses: number[] = []
  #state: 'calling' | 'stopped' = 'calling'
  readonly #ended: Promise<void>

  constructor(path: string, body: object, headers: () => Record<string, string>) {
    const call = async (): Promise<void> => {
      while (this.#state === 'calling') this.statuses.push((await server.post(path, body, headers())).status)
    }
    this.#ended = call()
  }

  /** Waits for `count` more calls. */
  async calls(count: number): Promise<void> {
    const until = this.statuses.length + count
    await eventually(() => this.statuses.length >= until)
  }

  async stop(): Promise<readonly number[]> {
    this.#state = 'stopped'
    await this.#ended
    return [...new Set(this.statuses)]
  }
}

const restart = async (options: Partial<Config>): Promise<void> => {
  const { port } = server
  await server.stop()
  server = await startTestServer({ engine: 'level', dataDir: data, port, ...options })
}

const [first, second] = ['a'.repeat(40), 'b'.repeat(40)]

it('[SEC-9] when a restart replaces the signing secret, clients reconnect with their tokens', async () => {
  server = await startTestServer({ engine: 'level', dataDir: data, jwtSecret: first })
  const token = await server.token('ann')
  const editors = [
    await syncedEditor(server.wsUrl, 'acme/rotated/main', token),
    await syncedEditor(server.wsUrl, 'acme/rotated/main', token),
  ] as const
  await restart({ jwtSecret: second, jwtSecretPrevious: first })
  editors[0].text.insert(0, 'after')
  await eventually(() => editors[1].text.toString() === 'after')
  const renewed = await syncedEditor(server.wsUrl, 'acme/rotated/main', await server.token('bob'))
  expect(renewed.text.toString()).toBe('after')
  await restart({ jwtSecret: second })
  renewed.text.insert(0, 'and ')
  const newcomer = openEditor(server.wsUrl, 'acme/rotated/main', await server.token('cid'))
  await eventually(() => newcomer.text.toString() === 'and after')
  const late = await RawClient.connect(`${server.wsUrl}/sync/acme/rotated/main?token=${token}`)
  expect(await late.closed).toMatchObject({ code: 4401 })
  for (const editor of [...editors, renewed, newcomer]) editor.close()
})

it('[SEC-9] continues a paged listing that began before the signing secret was replaced', async () => {
  server = await startTestServer({ engine: 'level', dataDir: data, jwtSecret: first })
  const organizations = ['one', 'two', 'three'].map((organizationId) => ({ organizationId }))
  await server.post('/v2/organizations/add', { organizations })
  const page = (pageToken?: string) => server.post('/v2/organizations/get', { pageSize: 1, pageToken })
  const tokenOf = ({ body }: Answer): string => (body.result as unknown as { pageToken: string }).pageToken
  const before = tokenOf(await page())
  await restart({ jwtSecret: second, jwtSecretPrevious: first })
  const next = await page(before)
  expect(dataOf(next)).toHaveLength(1)
  await restart({ jwtSecret: second })
  expect((await page(tokenOf(next))).status).toBe(200)
  expect((await page(before)).status).toBe(400)
})

const workspaceHeaders = (token: string): Record<string, string> => ({
  'x-service-workspace-id': server.credentials.workspaceId,
  'x-service-workspace-auth-token': token,
})

it('[SEC-9] no call fails while an auth token is replaced, and after a restart the new token is accepted as the configured token', async () => {
  server = await startTestServer({ engine: 'level', dataDir: data, authToken: 'the-first-auth-token' })
  const { apiKey, workspaceAuthToken } = server.credentials
  let authToken = 'the-first-auth-token'
  const caller = new Caller('/v2/auth/generate_token', user, () => ({ 'x-service-auth-token': authToken }))
  await caller.calls(20)
  const answer = await server.post(
    '/v2/workspace/authtoken/reset',
    { apiKey, graceSeconds: 3600 },
    workspaceHeaders(workspaceAuthToken),
  )
  await caller.calls(20)
  authToken = (dataOf(answer) as { newAuthToken: { token: string } }).newAuthToken.token
  await caller.calls(20)
  expect(await caller.stop()).toEqual([200])
  await restart({ authToken })
  const codeOf = async (token: string): Promise<number> =>
    (await server.post('/v2/auth/generate_token', user, { 'x-service-auth-token': token })).status
  expect([await codeOf('the-first-auth-token'), await codeOf(authToken)]).toEqual([200, 200])
  await server.post(
    '/v2/workspace/authtoken/reset',
    { apiKey, graceSeconds: 0 },
    workspaceHeaders(workspaceAuthToken),
  )
  expect([await codeOf('the-first-auth-token'), await codeOf(authToken)]).toEqual([401, 401])
})

const resetWorkspace = async (token: string, graceSeconds: number): Promise<string> => {
  const answer = await server.post(
    '/v2/workspace/workspaceauthtoken/reset',
    { graceSeconds },
    workspaceHeaders(token),
  )
  expect(dataOf(answer)).toMatchObject({ workspaceId: server.credentials.workspaceId })
  return (dataOf(answer) as { newWorkspaceAuthToken: string }).newWorkspaceAuthToken
}

it('[SEC-9] no call fails while a workspace token is replaced, and after a restart the new token is accepted as the configured token', async () => {
  const configured = 'the-first-workspace-token'
  server = await startTestServer({ engine: 'level', dataDir: data, workspaceAuthToken: configured })
  let token = configured
  const caller = new Caller('/v2/workspace/apikeys/get', {}, () => workspaceHeaders(token))
  await caller.calls(20)
  const next = await resetWorkspace(configured, 3600)
  await caller.calls(20)
  token = next
  await caller.calls(20)
  expect(await caller.stop()).toEqual([200])
  await restart({ workspaceAuthToken: next })
  const codeOf = async (given: string): Promise<number> =>
    (await server.post('/v2/workspace/apikeys/get', {}, workspaceHeaders(given))).status
  expect([await codeOf(configured), await codeOf(next)]).toEqual([200, 200])
  const last = await resetWorkspace(next, 0)
  expect([await codeOf(configured), await codeOf(next), await codeOf(last)]).toEqual([401, 401, 200])
})
