import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { readConfig } from '../../src/config/read.ts'
import type { Config } from '../../src/config.ts'
import { runCli } from '../support/cli.ts'
import { itLong } from '../support/long.ts'
import { dataOf, startTestServer, type TestServer } from '../support/server.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-bootstrap-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

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
  const server = await startTestServer({ engine: 'level', data, ...overrides })
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

it('[WS-60] declared workspaces are there, with keys and tokens, also after starting again', async () => {
  for (let round = 0; round < 3; round += 1) await start({ bootstrap: declared }, expectDeclared)
  await start({}, expectDeclared)
})

it('[WS-60] without anything else the first declared one is the server’s own', async () => {
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

it('[WS-60] credentials of an earlier start, and configured ones, stay the server’s own', async () => {
  const kept = await start({}, async ({ credentials }) => credentials)
  const written = statSync(join(data, 'credentials.json')).mtimeMs
  await start({ bootstrap: declared }, async (server) => {
    expect(server.credentials).toEqual(kept)
    await expectDeclared(server)
  })
  expect(statSync(join(data, 'credentials.json')).mtimeMs).toBe(written)
  await start({ bootstrap: declared, workspaceId: 'ws-own', apiKey: 'key-own' }, async (server) => {
    expect(server.credentials).toMatchObject({ workspaceId: 'ws-own', apiKey: 'key-own' })
    await expectDeclared(server)
  })
})

it('[WS-60] declared tokens replace the ones there were', async () => {
  await start({ bootstrap: declared }, async (server) => {
    await server.post('/v2/crdt/add', {
      organizationId: 'o',
      documentId: 'd',
      editorId: 'e',
      type: 'text',
      data: 'x',
    })
  })
  const next = { ...acme, workspaceToken: 'the-next-workspace-token', authToken: 'the-next-auth-token' }
  await start({ bootstrap: bootstrapOf({ Acme: next }) }, async (server) => {
    expect((await getWorkspace(server, 'ws-acme', acme.workspaceToken)).status).toBe(401)
    expect((await getWorkspace(server, 'ws-acme', next.workspaceToken)).status).toBe(200)
    expect(await codeOfKey(server, acme.apiKey, acme.authToken)).toBe(401)
    expect(await codeOfKey(server, acme.apiKey, next.authToken)).toBe(200)
    expect(await codeOfKey(server, bolt.apiKey, bolt.authToken)).toBe(200)
    const document = { organizationId: 'o', documentId: 'd', editorId: 'e' }
    expect((await server.post('/v2/crdt/get', document)).status).toBe(200)
  })
})

itLong('[WS-61] an API key of another workspace stops the start', async () => {
  await start({ bootstrap: declared }, expectDeclared)
  const moved = bootstrapOf({ Acme: { ...acme, workspaceId: 'ws-third' } })
  await expect(start({ bootstrap: moved }, expectDeclared)).rejects.toThrow(
    /API key of "Acme" in WEFT_BOOTSTRAP belongs to another workspace/,
  )
  await start({}, expectDeclared)
})

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
    /"Acme" and "Bolt" have one apiKey/,
  ],
  [
    'one workspace twice',
    JSON.stringify({ Acme: acme, Bolt: { ...bolt, workspaceId: 'ws-acme' } }),
    /"Acme" and "Bolt" have one workspaceId/,
  ],
])('[WS-61] a declaration is refused by what is wrong with it: %s', (_name, text, message) => {
  const read = () => configFrom({ WEFT_BOOTSTRAP: text })
  expect(read).toThrow(message)
  expect(read).toThrow(/^WEFT_BOOTSTRAP cannot be used: /)
  expect(read).not.toThrow(/secret|token-of/)
})

itLong('[WS-61] a bad declaration, from a file too, is one sentence and exit code 2', async () => {
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
})

it('[CFG-4] declared workspaces are not shown', async () => {
  const printed = await runCli(['config', 'print'], root, { WEFT_BOOTSTRAP: JSON.stringify({ Acme: acme }) })
  expect(printed.out).toContain('"(secret)"')
  expect(printed.out).not.toContain(acme.authToken)
})
