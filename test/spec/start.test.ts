import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, it } from 'vitest'
import type { Config } from '../../src/config.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-start-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let data: string
let count = 0
beforeEach(() => {
  count += 1
  data = join(root, String(count), 'data')
})

const file = () => join(data, 'credentials.json')
const kept = () => JSON.parse(readFileSync(file(), 'utf8')) as Record<string, string>
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

/** One start on the data directory of the test. */
async function start<T>(overrides: Partial<Config>, use: (server: TestServer) => Promise<T> | T): Promise<T> {
  const server = await startTestServer({ engine: 'level', data, ...overrides })
  try {
    return await use(server)
  } finally {
    await server.stop()
  }
}

const credentialsOf = (overrides: Partial<Config> = {}) =>
  start(overrides, ({ credentials, server: { created } }) => ({ credentials, created }))

const user = { userId: 'ann', userProperties: { name: 'Ann', email: '' } }
const call = (server: TestServer, apiKey: string, authToken: string) =>
  server.post('/v2/auth/generate_token', user, {
    'x-service-api-key': apiKey,
    'x-service-auth-token': authToken,
  })

it('[OPS-10] the first start makes credentials and keeps them for their owner only', async () => {
  const { credentials, created } = await credentialsOf()
  expect(created).toBe(true)
  expect(kept()).toEqual(credentials)
  expect(mode(file())).toBe('600')
  expect(mode(data)).toBe('700')
  expect(new Set(Object.values(credentials)).size).toBe(5)
  for (const secret of [credentials.authToken, credentials.workspaceAuthToken, credentials.jwtSecret])
    expect(secret.length).toBeGreaterThanOrEqual(43)
})

it('[OPS-11] starting again changes nothing: same credentials, and tokens stay good', async () => {
  const first = await start({}, async ({ credentials, token }) => ({
    credentials,
    token: await token('ann'),
  }))
  const written = statSync(file()).mtimeMs
  const { credentials, created } = await credentialsOf()
  expect(credentials).toEqual(first.credentials)
  expect(created).toBe(false)
  expect(statSync(file()).mtimeMs).toBe(written)
})

it('[OPS-12] configured credentials are used instead, and a configured signing secret stays out of the file', async () => {
  const configured = {
    workspaceId: 'my-workspace',
    workspaceAuthToken: 'my-workspace-token',
    apiKey: 'my-api-key',
    authToken: 'my-own-auth-token',
    jwtSecret: 'a-signing-secret-of-more-than-32-bytes',
  }
  const { credentials, created } = await credentialsOf(configured)
  expect(credentials).toEqual(configured)
  expect(created).toBe(false)
  expect(readFileSync(file(), 'utf8')).not.toContain(configured.jwtSecret)
  await start(configured, async (server) => {
    expect((await call(server, 'my-api-key', 'my-own-auth-token')).status).toBe(200)
  })
})

it('[OPS-13] a configured token replaces the one before it', async () => {
  const { credentials } = await credentialsOf()
  const authToken = 'the-next-auth-token'
  await start({ authToken }, async (server) => {
    expect(server.server.created).toBe(false)
    expect((await call(server, credentials.apiKey, authToken)).status).toBe(200)
    expect((await call(server, credentials.apiKey, credentials.authToken)).status).toBe(401)
  })
  expect(kept()).toEqual({ ...credentials, authToken })
  expect((await credentialsOf()).credentials.authToken).toBe(authToken)
})

it('[OPS-14] a configured API key is added, and the one before it goes on working', async () => {
  const { credentials } = await credentialsOf()
  await start({ apiKey: 'second-key', authToken: 'second-auth-token' }, async (server) => {
    expect(server.credentials.workspaceId).toBe(credentials.workspaceId)
    expect((await call(server, 'second-key', 'second-auth-token')).status).toBe(200)
    expect((await call(server, credentials.apiKey, credentials.authToken)).status).toBe(200)
    expect((await call(server, 'second-key', credentials.authToken)).status).toBe(401)
    expect((await call(server, credentials.apiKey, 'second-auth-token')).status).toBe(401)
  })
})

it('[OPS-14] an API key of another workspace is refused', async () => {
  await credentialsOf({ apiKey: 'taken' })
  await expect(credentialsOf({ apiKey: 'taken', workspaceId: 'other' })).rejects.toThrow(
    /belongs to another workspace/,
  )
})

it('[OPS-15] a lost file is written anew from the store; a damaged one is refused by name', async () => {
  const { credentials } = await credentialsOf()
  rmSync(file())
  const again = (await credentialsOf()).credentials
  expect({ ...again, jwtSecret: '' }).toEqual({ ...credentials, jwtSecret: '' })
  expect(again.jwtSecret).not.toBe(credentials.jwtSecret)
  expect(mode(file())).toBe('600')
  writeFileSync(file(), '{"apiKey":')
  await expect(credentialsOf()).rejects.toThrow(/credentials\.json is damaged/)
})

it('[OPS-16] the memory engine keeps nothing on disk', async () => {
  const { created } = await credentialsOf({ engine: 'memory' })
  expect(created).toBe(true)
  expect(existsSync(data)).toBe(false)
})
