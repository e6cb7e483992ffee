import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { listApiKeys } from '../../../src/capabilities/backups/storage/keys.ts'
import type { Config } from '../../../src/core/config/config.ts'
import { readConfig } from '../../../src/core/config/read-config.ts'
import { runCli } from '../../support/servers/cli.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { itLong } from '../../support/time/full-run.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-bootstrap-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

let data: string
let count = 0
beforeEach(() => {
  count += 1
  data = join(root, `data-${count}`)
})

const acme = {
  workspaceId: 'ws-acme',
  workspaceToken: 'token-of-workspace-acme',
  apiKey: 'key-acme',
  authToken: 'token-of-key-acme',
}
const bolt = {
  workspaceId: 'ws-bolt',
  workspaceAuthToken: 'token-of-workspace-bolt',
  apiKey: 'key-bolt',
  authToken: 'token-of-key-bolt',
}

const configFrom = (environment: Record<string, string>): Config =>
  readConfig({ flags: {}, environment, file: null }).config
const bootstrapOf = (declared: unknown) => configFrom({ WEFT_BOOTSTRAP: JSON.stringify(declared) }).bootstrap

async function start<T>(overrides: Partial<Config>, use: (server: TestServer) => Promise<T>): Promise<T> {
  const server = await startTestServer({ engine: 'level', dataDir: data, ...overrides })
  try {
    return await use(server)
  } finally {
    await server.stop()
  }
}

const getWorkspace = (server: TestServer, id: string, token: string) =>
  server.post(
    '/v2/workspace/get',
    {},
    {
      'x-service-workspace-id': id,
      'x-service-workspace-auth-token': token,
    },
  )
const codeOfKey = async (server: TestServer, apiKey: string, authToken: string) =>
  (
    await server.post(
      '/v2/workspace/domains/get',
      {},
      {
        'x-service-api-key': apiKey,
        'x-service-auth-token': authToken,
      },
    )
  ).status

async function expectDeclared(server: TestServer): Promise<void> {
  const found = dataOf(await getWorkspace(server, 'ws-acme', acme.workspaceToken))
  expect(found).toMatchObject({ id: 'ws-acme', name: 'Acme', apiKeyList: { 'key-acme': { id: 'key-acme' } } })
  expect(dataOf(await getWorkspace(server, 'ws-bolt', bolt.workspaceAuthToken))).toMatchObject({
    name: '__proto__',
  })
  expect(await codeOfKey(server, acme.apiKey, acme.authToken)).toBe(200)
  expect(await codeOfKey(server, bolt.apiKey, bolt.authToken)).toBe(200)
  expect(await codeOfKey(server, acme.apiKey, bolt.authToken)).toBe(401)
}

const declared = bootstrapOf({ Acme: acme, ['__proto__']: bolt })

it('[WS-60] creates declared workspaces with keys and tokens, and keeps them after another start', async () => {
  for (let round = 0; round < 3; round += 1) await start({ bootstrap: declared }, expectDeclared)
  await start({}, expectDeclared)
})

it("[WS-60] if nothing else is configured, uses the first declared workspace as the server's own", async () => {
  const jwtSecret = 'a-signing-secret-of-more-than-32-bytes'
  await start({ bootstrap: declared, jwtSecret }, async ({ credentials, server }) => {
    expect(credentials).toEqual({
      workspaceId: 'ws-acme',
      workspaceAuthToken: acme.workspaceToken,
      apiKey: 'key-acme',
      authToken: acme.authToken,
      jwtSecret,
    })
    expect(server.created).toBe(false)
  })
})

it("[WS-60] even if workspaces are declared, uses the credentials of an earlier start or of the configuration as the server's own", async () => {
  const kept = await start({}, async ({ credentials }) => credentials)
  const written = statSync(join(data, 'credentials.json')).mtimeMs
  await start({ bootstrap: declared }, async (server) => {
    expect(server.credentials).toEqual(kept)
    await expectDeclared(server)
  })
  expect(statSync(join(data, 'credentials.json')).mtimeMs).toBe(written)
  const own = { workspaceId: 'ws-own', apiKey: 'key-own', addKey: 'key-own' }
  await start({ bootstrap: declared, ...own }, async (server) => {
    expect(server.credentials).toMatchObject({ workspaceId: 'ws-own', apiKey: 'key-own' })
    await expectDeclared(server)
  })
})

it('[WS-64] logs a warning when a declaration adds a workspace to a store with data', async () => {
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const logged = async (workspaces: unknown) => {
    lines.length = 0
    const bootstrap = bootstrapOf(workspaces)
    await (await startTestServer({ engine: 'level', dataDir: data, bootstrap }, { log })).stop()
    return lines.filter(({ event }) => event === 'workspace.created')
  }
  expect(await logged({ Acme: acme })).toEqual([])
  expect(await logged({ Acme: acme, Bolt: bolt })).toMatchObject([
    { level: 40, workspaceId: 'ws-bolt', apiKey: 'key-bolt', msg: expect.stringMatching(/new.*empty/) },
  ])
  expect(JSON.stringify(lines)).not.toContain(bolt.authToken)
  expect(await logged({ Acme: acme, Bolt: bolt })).toEqual([])
})

it('[WS-63] when a declared token differs from the stored token, does not start, and changes nothing', async () => {
  await start({ bootstrap: declared }, expectDeclared)
  const restart = (changed: object) =>
    start({ bootstrap: bootstrapOf({ New: other, Acme: { ...acme, ...changed } }) }, expectDeclared)
  const other = {
    workspaceId: 'ws-new',
    workspaceToken: 'x'.repeat(16),
    apiKey: 'new',
    authToken: 'x'.repeat(16),
  }
  await expect(restart({ authToken: 'the-next-auth-token' })).rejects.toMatchObject({
    message: 'the stored auth token of the API key "key-acme" differs from WEFT_BOOTSTRAP',
    hint: expect.stringContaining('weft keys replace key-acme --configured'),
  })
  await expect(restart({ workspaceToken: 'the-next-workspace-token' })).rejects.toMatchObject({
    message: 'the stored token of the workspace "ws-acme" differs from WEFT_BOOTSTRAP',
    hint: expect.stringContaining('weft keys replace --workspace ws-acme --configured'),
  })
  await start({ bootstrap: declared }, expectDeclared)
  expect((await listApiKeys(data)).map(({ key }) => key.id)).toEqual(['key-acme', 'key-bolt'])
})

it('[RUN-14] weft keys replace --configured stores the declared tokens', async () => {
  await start({ bootstrap: declared }, expectDeclared)
  const next = { ...acme, workspaceToken: 'the-next-workspace-token', authToken: 'the-next-auth-token' }
  const environment = { WEFT_BOOTSTRAP: JSON.stringify({ Acme: next }) }
  for (const what of [['key-acme'], ['--workspace', 'ws-acme']])
    expect(
      await runCli(['keys', 'replace', ...what, '--configured', '--data-dir', data], root, environment),
    ).toMatchObject({ code: 0, err: '' })
  await start({ bootstrap: bootstrapOf({ Acme: next }) }, async (server) => {
    expect((await getWorkspace(server, 'ws-acme', acme.workspaceToken)).status).toBe(401)
    expect((await getWorkspace(server, 'ws-acme', next.workspaceToken)).status).toBe(200)
    expect(await codeOfKey(server, acme.apiKey, acme.authToken)).toBe(401)
    expect(await codeOfKey(server, acme.apiKey, next.authToken)).toBe(200)
    expect(await codeOfKey(server, bolt.apiKey, bolt.authToken)).toBe(200)
  })
})

itLong('[WS-61] when a declared API key belongs to another workspace, does not start', async () => {
  await start({ bootstrap: declared }, expectDeclared)
  const moved = bootstrapOf({ Acme: { ...acme, workspaceId: 'ws-third' } })
  await expect(start({ bootstrap: moved }, expectDeclared)).rejects.toThrow(
    /API key of "Acme" in WEFT_BOOTSTRAP belongs to another workspace/,
  )
  await start({}, expectDeclared)
})

it('[WS-62] when a declared API key does not exist in its workspace, does not start', async () => {
  await start({ bootstrap: declared }, expectDeclared)
  const mistyped = bootstrapOf({ Acme: { ...acme, apiKey: 'key-acne' } })
  await expect(start({ bootstrap: mistyped }, expectDeclared)).rejects.toMatchObject({
    message: 'the store has API keys, but not the API key of "Acme" in that workspace',
    hint: expect.stringContaining('set WEFT_BOOTSTRAP to one that `weft keys list` shows'),
  })
  await start({ bootstrap: mistyped, addKey: 'key-acne' }, async (server) => {
    expect(await codeOfKey(server, 'key-acne', acme.authToken)).toBe(200)
  })
})

it('[CFG-12] rejects an `addKey` that is neither the configured API key nor a declared one, and states the expected options', () => {
  const WEFT_ADD_KEY = 'key-new'
  for (const others of [{}, { WEFT_API_KEY: 'key-old' }, { WEFT_BOOTSTRAP: JSON.stringify({ Acme: acme }) }])
    expect(() => configFrom({ WEFT_ADD_KEY, ...others })).toThrow(
      /^WEFT_ADD_KEY is "key-new"; expected the same key in WEFT_API_KEY, or in a workspace of WEFT_BOOTSTRAP/,
    )
  const withNew = JSON.stringify({ Acme: { ...acme, apiKey: 'key-new' } })
  expect(configFrom({ WEFT_ADD_KEY, WEFT_API_KEY: 'key-new' }).addKey).toBe('key-new')
  expect(configFrom({ WEFT_ADD_KEY, WEFT_BOOTSTRAP: withNew }).addKey).toBe('key-new')
})

itLong(
  '[CFG-12] does not start, and ends with exit code 2, if `addKey` is not the configured API key',
  async () => {
    const run = await runCli(['serve', '--add-key', 'key-new'], root, { WEFT_HOST: '127.0.0.1' })
    expect(run).toMatchObject({ code: 2, err: expect.stringContaining('WEFT_API_KEY') })
  },
)

const { apiKey: _, ...noKey } = acme

it.each<[string, string, RegExp]>([
  ['no JSON', '{"Acme":', /it is not JSON/],
  ['a list', '[]', /it must be a JSON object/],
  ['null', 'null', /it must be a JSON object/],
  ['a workspace that is none', '{"Acme":7}', /"Acme" must be a JSON object/],
  ['an empty name', JSON.stringify({ '': acme }), /the name "" must have 1 to 200/],
  ['no API key', JSON.stringify({ Acme: noKey }), /"Acme" has no apiKey/],
  [
    'no workspace token',
    JSON.stringify({ Acme: { ...acme, workspaceToken: undefined } }),
    /"Acme" has no workspaceAuthToken or workspaceToken/,
  ],
  [
    'both spellings',
    JSON.stringify({ Acme: { ...acme, ...bolt } }),
    /"Acme" has both workspaceAuthToken and workspaceToken/,
  ],
  [
    'a short token',
    JSON.stringify({ Acme: { ...acme, authToken: 'short-secret' } }),
    /authToken of "Acme" must be 16 to 512 visible ASCII/,
  ],
  [
    'an id that is none',
    JSON.stringify({ Acme: { ...acme, apiKey: 'a b' } }),
    /apiKey of "Acme" must be 1 to 512/,
  ],
  ['a number', JSON.stringify({ Acme: { ...acme, workspaceId: 7 } }), /workspaceId of "Acme" must be/],
  [
    'an unknown member',
    JSON.stringify({ Acme: { ...acme, tokens: [] } }),
    /"Acme" has the unknown member "tokens"/,
  ],
  [
    'one API key twice',
    JSON.stringify({ Acme: acme, Bolt: { ...bolt, apiKey: 'key-acme' } }),
    /"Acme" and "Bolt" have the same apiKey/,
  ],
  [
    'one workspace twice',
    JSON.stringify({ Acme: acme, Bolt: { ...bolt, workspaceId: 'ws-acme' } }),
    /"Acme" and "Bolt" have the same workspaceId/,
  ],
])('[WS-61] rejects an invalid declaration, and states the problem: %s', (_name, text, message) => {
  const read = () => configFrom({ WEFT_BOOTSTRAP: text })
  expect(read).toThrow(message)
  expect(read).toThrow(/^WEFT_BOOTSTRAP cannot be used: /)
  expect(read).not.toThrow(/secret|token-of/)
})

itLong(
  '[WS-61] if the declaration of workspaces, or its file, is invalid, ends with one sentence and exit code 2',
  async () => {
    const file = join(root, 'workspaces.json')
    writeFileSync(file, JSON.stringify({ Acme: noKey }))
    const expected = 'cannot be used: "Acme" has no apiKey\n'
    const environment = { WEFT_BOOTSTRAP: readFileSync(file, 'utf8'), WEFT_HOST: '127.0.0.1' }
    expect(await runCli([], root, environment)).toEqual({
      code: 2,
      out: '',
      err: `weft: WEFT_BOOTSTRAP ${expected}`,
    })
    expect(await runCli(['config', 'check'], root, { WEFT_BOOTSTRAP_FILE: file })).toEqual({
      code: 2,
      out: '',
      err: `weft: WEFT_BOOTSTRAP_FILE ${expected}`,
    })
  },
)

it('[CFG-4] weft config print does not print declared workspaces', async () => {
  const printed = await runCli(['config', 'print'], root, { WEFT_BOOTSTRAP: JSON.stringify({ Acme: acme }) })
  expect(printed.out).toContain('"(secret)"')
  expect(printed.out).not.toContain(acme.authToken)
})
