import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { listApiKeys } from '../../../src/capabilities/backups/storage/keys.ts'
import { openForWriting } from '../../../src/capabilities/backups/storage/offline-store.ts'
import { systemClock } from '../../../src/core/base/clock.ts'
import type { Config } from '../../../src/core/config/config.ts'
import { createTenancy } from '../../../src/core/directory/tenants/tenancy.ts'
import { workspaceKeys } from '../../../src/core/directory/tenants/workspace-keys.ts'
import { runCli } from '../../support/servers/cli.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-start-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

let data: string
let count = 0
beforeEach(() => {
  count += 1
  data = join(root, String(count), 'data')
})

const file = () => join(data, 'credentials.json')
const kept = () => JSON.parse(readFileSync(file(), 'utf8')) as Record<string, string>
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

/** Starts a server once on the data directory of the test. */
async function start<T>(overrides: Partial<Config>, use: (server: TestServer) => Promise<T> | T): Promise<T> {
  const server = await startTestServer({ engine: 'level', dataDir: data, ...overrides })
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

it('[OPS-10] creates credentials at the first start in a file that only its owner can read', async () => {
  const { credentials, created } = await credentialsOf()
  expect(created).toBe(true)
  expect(kept()).toEqual(credentials)
  expect(mode(file())).toBe('600')
  expect(mode(data)).toBe('700')
  expect(new Set(Object.values(credentials)).size).toBe(6)
  for (const secret of [credentials.authToken, credentials.workspaceAuthToken, credentials.jwtSecret])
    expect(secret.length).toBeGreaterThanOrEqual(43)
})

it('[OPS-60] creates an admin token at the first start, and leaves it out of the file once it is configured', async () => {
  const { adminToken } = (await credentialsOf()).credentials
  expect(adminToken).toHaveLength(43)
  const create = (server: TestServer, token: string) =>
    server.post('/v2/workspace/create', { ownerEmail: 'ann@example.com' }, { 'x-service-admin-token': token })
  await start({}, async (server) => {
    expect(server.credentials.adminToken).toBe(adminToken)
    expect((await create(server, 'x'.repeat(43))).status).toBe(401)
    expect((await create(server, adminToken ?? '')).status).toBe(200)
  })
  await start({ adminToken: 'an-admin-token-of-mine' }, async (server) => {
    expect((await create(server, adminToken ?? '')).status).toBe(401)
    expect((await create(server, 'an-admin-token-of-mine')).status).toBe(200)
  })
  expect(kept()).not.toHaveProperty('adminToken')
  expect((await credentialsOf()).credentials.adminToken).toBeUndefined()
})

it('[OPS-11] keeps credentials and tokens valid over a restart of the server', async () => {
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

it('[OPS-12] uses configured credentials, but does not write a configured signing secret to the file', async () => {
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

it('[OPS-13] when a configured token differs from the stored token, does not start, and changes nothing', async () => {
  const { credentials } = await credentialsOf()
  const { apiKey, workspaceId } = credentials
  await expect(credentialsOf({ authToken: 'the-next-auth-token' })).rejects.toMatchObject({
    message: `the stored auth token of the API key "${apiKey}" differs from WEFT_AUTH_TOKEN`,
    hint: expect.stringContaining(`weft keys replace ${apiKey} --configured`),
  })
  const workspaceAuthToken = 'the-next-workspace-token'
  await expect(credentialsOf({ workspaceAuthToken })).rejects.toMatchObject({
    message: `the stored token of the workspace "${workspaceId}" differs from WEFT_WORKSPACE_AUTH_TOKEN`,
    hint: expect.stringContaining(`weft keys replace --workspace ${workspaceId} --configured`),
  })
  expect(kept()).toEqual(credentials)
  const { authToken } = credentials
  const same = { authToken, workspaceAuthToken: credentials.workspaceAuthToken }
  await start(same, async (server) => {
    expect(server.credentials).toEqual(credentials)
    expect((await call(server, apiKey, authToken)).status).toBe(200)
  })
})

it('[OPS-14] when the store does not have the configured API key, does not start, and writes nothing', async () => {
  const { credentials } = await credentialsOf()
  const refused = { message: 'the store has API keys, but not the configured API key "typo"' }
  const remedy = expect.stringContaining('`weft keys list`')
  await expect(credentialsOf({ apiKey: 'typo' })).rejects.toMatchObject({ ...refused, hint: remedy })
  await expect(credentialsOf({ apiKey: 'typo', workspaceId: 'other' })).rejects.toMatchObject(refused)
  await expect(credentialsOf({ apiKey: 'typo', addKey: 'tipo' })).rejects.toMatchObject(refused)
  await expect(credentialsOf({ workspaceId: 'other' })).rejects.toThrow(
    'the store has workspaces, but not the configured workspace "other"',
  )
  expect(await listApiKeys(data)).toMatchObject([{ key: { id: credentials.apiKey } }])
  expect((await credentialsOf()).credentials).toEqual(credentials)
})

it('[OPS-14] when the credentials file belongs to another store, does not start', async () => {
  await credentialsOf()
  const { apiKey, ...others } = kept()
  writeFileSync(file(), JSON.stringify({ ...others, apiKey: 'of-another-store' }))
  await expect(credentialsOf()).rejects.toThrow(
    /credentials\.json, because that file belongs to another store/,
  )
  rmSync(file())
  expect((await credentialsOf()).credentials.apiKey).toBe(apiKey)
})

it('[OPS-14] with `addKey`, adds the configured API key, and keeps the former API key valid', async () => {
  const { credentials } = await credentialsOf()
  const second = { apiKey: 'second-key', authToken: 'second-auth-token' }
  await start({ ...second, addKey: 'second-key' }, async (server) => {
    expect(server.credentials.workspaceId).toBe(credentials.workspaceId)
    expect((await call(server, 'second-key', 'second-auth-token')).status).toBe(200)
    expect((await call(server, credentials.apiKey, credentials.authToken)).status).toBe(200)
    expect((await call(server, 'second-key', credentials.authToken)).status).toBe(401)
    expect((await call(server, credentials.apiKey, 'second-auth-token')).status).toBe(401)
  })
  expect((await credentialsOf(second)).credentials.apiKey).toBe('second-key')
})

it('[OPS-14] if no API key is configured and the store has several, uses the first of them', async () => {
  await credentialsOf({ apiKey: 'second', addKey: 'second' })
  await credentialsOf({ apiKey: 'a-third', addKey: 'a-third' })
  rmSync(file())
  expect((await credentialsOf()).credentials.apiKey).toBe('a-third')
  expect((await credentialsOf({ apiKey: 'second' })).credentials.apiKey).toBe('second')
})

it('[RUN-1] weft keys lists, adds and replaces the credentials of a stopped store', async () => {
  const { credentials } = await credentialsOf()
  const keys = async (...args: string[]) => {
    const { code, out, err } = await runCli(['keys', ...args, '--data-dir', data], root)
    return { code, out, err }
  }
  const added = await keys('add', 'another-key', '--json')
  const { authToken } = JSON.parse(added.out) as { authToken: string }
  expect(await keys('add', 'another-key')).toMatchObject({
    code: 2,
    err: 'weft: the store has the API key "another-key" already; weft keys list shows what the store has\n',
  })
  const listed = (await keys('list')).out
  expect(listed).toContain('another-key')
  expect(listed).toMatch(new RegExp(`${credentials.apiKey}.*used by the server`))
  for (const secret of [authToken, credentials.authToken, credentials.workspaceAuthToken])
    expect(listed).not.toContain(secret)
  const replaced = JSON.parse((await keys('replace', credentials.apiKey, '--json')).out) as typeof added & {
    authToken: string
  }
  expect(kept().authToken).toBe(replaced.authToken)
  await start({ apiKey: 'another-key' }, async (server) => {
    expect((await call(server, 'another-key', authToken)).status).toBe(200)
    expect((await call(server, credentials.apiKey, replaced.authToken)).status).toBe(200)
    expect((await call(server, credentials.apiKey, credentials.authToken)).status).toBe(401)
  })
  expect((await keys('replace', 'unknown')).err).toBe(
    'weft: the store has no API key "unknown"; weft keys list shows what the store has\n',
  )
})

it('[AUDIT-3] when a new API key would exceed the limit, reports this in one sentence, and records a failure in the audit log', async () => {
  const { credentials } = await credentialsOf()
  const { workspaceId } = credentials
  const engine = await openForWriting(data)
  await createTenancy(engine, systemClock).tenants.change(async (transaction) =>
    transaction.put(workspaceKeys.apiKeyCount(workspaceId), { count: 1000 }),
  )
  await engine.close()
  const weft = (...args: string[]) => runCli(args, root)
  expect(await weft('keys', 'add', 'too-many', '--data-dir', data)).toEqual({
    code: 2,
    out: '',
    err: 'weft: the workspace has 1000 API keys, and can have no more; use one of them\n',
  })
  const more = { apiKey: 'too-many', addKey: 'too-many' }
  await expect(credentialsOf(more)).rejects.toThrow('the workspace has 1000 API keys')
  const { out } = await weft('audit', data, '--json', '--workspace', workspaceId)
  const records = out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { operation: string; outcome: string; ids: { apiKey?: string[] } })
  const ofKey = records.filter(({ ids }) => ids.apiKey?.includes('too-many'))
  expect(ofKey.map(({ operation, outcome }) => [operation, outcome])).toEqual([
    ['keys.add', 'FAILED_PRECONDITION'],
    ['start.api_key_made', 'FAILED_PRECONDITION'],
  ])
})

it('[RUN-14] weft keys replace --configured stores the configured tokens', async () => {
  const { credentials } = await credentialsOf()
  const { apiKey, workspaceId } = credentials
  const [authToken, workspaceAuthToken] = ['the-next-auth-token', 'the-next-workspace-token']
  const configured = { WEFT_AUTH_TOKEN: authToken, WEFT_WORKSPACE_AUTH_TOKEN: workspaceAuthToken }
  const replace = (args: readonly string[], environment: Record<string, string> = configured) =>
    runCli(['keys', 'replace', ...args, '--configured', '--data-dir', data], root, environment)
  expect((await replace([apiKey], {})).err).toBe(
    `weft: no auth token of the API key "${apiKey}" is configured; set WEFT_AUTH_TOKEN or WEFT_BOOTSTRAP\n`,
  )
  const ofOther = await replace([apiKey], { ...configured, WEFT_API_KEY: 'other' })
  expect(ofOther.err).toContain('no auth token of the API key')
  const replaced = await replace([apiKey])
  expect(replaced).toMatchObject({ code: 0, err: '' })
  expect(replaced.out).not.toContain(authToken)
  expect((await replace(['--workspace', workspaceId])).code).toBe(0)
  await start({ authToken, workspaceAuthToken }, async (server) => {
    expect((await call(server, apiKey, authToken)).status).toBe(200)
    expect((await call(server, apiKey, credentials.authToken)).status).toBe(401)
  })
  expect(kept()).toEqual({ ...credentials, authToken, workspaceAuthToken })
})

it('[RUN-14] weft keys replace --workspace gives a workspace a new token', async () => {
  const { credentials } = await credentialsOf()
  const replace = (...args: string[]) =>
    runCli(['keys', 'replace', ...args, '--data-dir', data, '--json'], root)
  const { out } = await replace('--workspace', credentials.workspaceId)
  const { workspaceAuthToken } = JSON.parse(out) as { workspaceAuthToken: string }
  expect(workspaceAuthToken).not.toBe(credentials.workspaceAuthToken)
  expect((await credentialsOf()).credentials).toEqual({ ...credentials, workspaceAuthToken })
  expect((await replace('--workspace', 'unknown')).err).toBe(
    'weft: the store has no workspace "unknown"; weft keys list shows what the store has\n',
  )
  const expected = 'weft: weft keys replace needs a key or --workspace, and not both\n'
  expect([(await replace()).err, (await replace('key', '--workspace', 'ws')).err]).toEqual([
    expected,
    expected,
  ])
})

it('[OPS-14] rejects a configured API key that belongs to another workspace', async () => {
  await credentialsOf({ apiKey: 'taken' })
  const [apiKey, workspaceId] = ['taken', 'other']
  await credentialsOf({ apiKey: 'others', addKey: 'others', workspaceId })
  await expect(credentialsOf({ apiKey, workspaceId })).rejects.toThrow(/belongs to another workspace/)
})

it('[OPS-15] writes a lost credentials file again from the store; rejects a damaged credentials file, and states its name', async () => {
  const { credentials } = await credentialsOf()
  rmSync(file())
  const again = (await credentialsOf()).credentials
  const made = { jwtSecret: '', adminToken: '' }
  expect({ ...again, ...made }).toEqual({ ...credentials, ...made })
  expect(again.jwtSecret).not.toBe(credentials.jwtSecret)
  expect(mode(file())).toBe('600')
  for (const damaged of ['{"apiKey":', '["apiKey"]', '{"apiKey":5}']) {
    writeFileSync(file(), damaged)
    await expect(credentialsOf()).rejects.toThrow(
      /credentials\.json is not a JSON object of strings: restore it, or remove it/,
    )
  }
  const misspelled = JSON.stringify({ ...again, jwtSecret: undefined, jwtSceret: again.jwtSecret })
  writeFileSync(file(), misspelled)
  await expect(credentialsOf()).rejects.toThrow(/has "jwtSceret" \(did you mean jwtSecret\?\)/)
  expect(readFileSync(file(), 'utf8')).toBe(misspelled)
})

it('[OPS-17] logs a warning when it creates a signing secret for a store that has API keys', async () => {
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const logged = async (overrides: Partial<Config> = {}) => {
    lines.length = 0
    await (await startTestServer({ engine: 'level', dataDir: data, ...overrides }, { log })).stop()
    return lines.filter(({ event }) => event === 'signing_secret.made')
  }
  expect(await logged()).toEqual([])
  expect(await logged()).toEqual([])
  const file1 = kept()
  rmSync(file())
  expect(await logged()).toMatchObject([
    { level: 40, data, msg: expect.stringMatching(/credentials\.json.*WEFT_JWT_SECRET|WEFT_JWT_SECRET/) },
  ])
  expect(kept().jwtSecret).not.toBe(file1.jwtSecret)
  expect(await logged()).toEqual([])
  rmSync(file())
  expect(await logged({ jwtSecret: 'a-signing-secret-of-more-than-32-bytes' })).toEqual([])
  expect(await logged()).toHaveLength(1)
})

it('[OPS-16] with the memory engine, writes nothing to disk', async () => {
  const { created } = await credentialsOf({ engine: 'memory' })
  expect(created).toBe(true)
  expect(existsSync(data)).toBe(false)
})
