import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../../src/core/config/read-config.ts'
import { checkVariables, misspelledVariables } from '../../../src/core/config/variables.ts'
import { runCli, startCli } from '../../support/servers/cli.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const at = { organizationId: 'acme', documentId: 'plan' }
const editor = { ...at, editorId: 'main' }
const ann = { userId: 'ann' }
const token = { ...ann, userProperties: { name: 'Ann', email: 'ann@example.com' } }
const resource = { type: 'document', id: 'plan', organizationId: 'acme' }
const comments = '/v2/commentannotations'

/** Calls with one misspelled member, and the name that was meant. */
const members: readonly (readonly [path: string, data: object, meant: string])[] = [
  ['/v2/crdt/update', { ...editor, type: 'text', data: 'lost', ifVersoin: '0.0' }, 'ifVersion'],
  ['/v2/crdt/update', { ...editor, type: 'text', data: 'lost', dryrun: true }, 'dryRun'],
  ['/v2/crdt/update', { ...editor, type: 'text', data: 'lost', baseVerison: '0.0' }, 'baseVersion'],
  ['/v2/crdt/update', { ...editor, type: 'text', data: 'lost', content_key: 'default' }, 'contentKey'],
  ['/v2/crdt/update', { ...editor, tpye: 'text', data: 'lost' }, 'type'],
  ['/v2/crdt/add', { ...at, editor_id: 'other', type: 'text', data: 'x' }, 'editorId'],
  ['/v2/crdt/delete', { ...at, editorsIds: ['other'] }, 'editorIds'],
  ['/v2/crdt/delete', { ...at, editorId: 'other' }, 'editorIds'],
  ['/v2/crdt/get', { ...at, editorID: 'main' }, 'editorId'],
  ['/v2/crdt/get', { ...at, fromat: 'xml' }, 'format'],
  ['/v2/crdt/apply', { ...editor, update: '', craete: true }, 'create'],
  ['/v2/crdt/versions/create', { ...editor, lable: 'x' }, 'label'],
  ['/v2/crdt/versions/restore', { ...editor, versionId: 'x', dry_run: true }, 'dryRun'],
  ['/v2/crdt/versions/list', { ...editor, pagesize: 1 }, 'pageSize'],
  ['/v2/auth/generate_token', { ...token, permisions: { resources: [] } }, 'permissions'],
  ['/v2/auth/generate_token', { ...token, expiresInSecond: 60 }, 'expiresInSeconds'],
  [
    '/v2/auth/generate_token',
    { ...token, permissions: { resources: [{ ...resource, accesRole: 'viewer' }] } },
    'accessRole',
  ],
  [
    '/v2/auth/permissions/add',
    { user: ann, permissions: { resources: [{ ...resource, expiresAT: 1 }] } },
    'expiresAt',
  ],
  ['/v2/auth/permissions/remove', { userID: 'ann', permissions: { resources: [resource] } }, 'userId'],
  ['/v2/auth/revoke_tokens', { usreId: 'ann' }, 'userId'],
  [
    '/v2/organizations/documents/add',
    { organizationId: 'acme', documents: [{ documentId: 'secret', acessType: 'restricted' }] },
    'accessType',
  ],
  [
    '/v2/organizations/documents/update',
    { organizationId: 'acme', documents: [{ documentId: 'plan', disbled: true }] },
    'disabled',
  ],
  [
    '/v2/organizations/documents/access/update',
    { organizationId: 'acme', documentIDs: ['plan'] },
    'documentIds',
  ],
  ['/v2/organizations/documents/get', { organisationId: 'acme' }, 'organizationId'],
  ['/v2/organizations/folders/get', { organizationId: 'acme', maxDeph: 2 }, 'maxDepth'],
  ['/v2/organizations/folders/access/update', { inheritAccesFromParent: false }, 'inheritAccessFromParent'],
  [
    '/v1/organizations/folders/add',
    { folders: [{ folderId: 'f', parentFolderID: 'root' }] },
    'parentFolderId',
  ],
  ['/v1/organizations/usergroups/users/delete', { delteAll: true }, 'deleteAll'],
  ['/v2/users/add', { organizationId: 'acme', users: [{ ...ann, acessRole: 'viewer' }] }, 'accessRole'],
  ['/v2/users/get', { organizationId: 'acme', folderID: 'f' }, 'folderId'],
  ['/v2/activities/get', { organizationId: 'acme', oder: 'asc' }, 'order'],
  ['/v2/notifications/config/set', { config: { inbx: 'NONE' } }, 'inbox'],
  ['/v1/notifications/add', { notifyall: false }, 'notifyAll'],
  [`${comments}/update`, { annotations: [{ annotationId: 'a', statsu: 'resolved' }] }, 'status'],
  [`${comments}/comments/add`, { comments: [{ from: ann, txt: 'x' }] }, 'text'],
  ['/v2/presence/add', { ...at, users: [ann], ttlSecond: 60 }, 'ttlSeconds'],
  ['/v2/memory/judgments/add', { reviewerID: 'ann' }, 'reviewerId'],
  ['/v2/livestate/broadcast', { ...at, evnet: 'x' }, 'event'],
  ['/v2/workspace/domains/add', { domans: ['example.com'] }, 'domains'],
  ['/v2/workspace/webhookconfig/update', { webhookServiceConfig: { authTokn: 'x' } }, 'authToken'],
  [
    '/v2/workspace/advancedwebhook/endpoints/create',
    { url: 'https://example.com', ratelimit: 1 },
    'rateLimit',
  ],
]

/** Values with a typing mistake. */
const values: readonly (readonly [path: string, data: object, place: string])[] = [
  ['/v2/crdt/add', { ...editor, editorId: 'other', type: 'txet', data: 'x' }, '/data/type'],
  [
    '/v2/organizations/documents/access/update',
    { organizationId: 'acme', documentIds: ['plan'], accessType: 'resticted' },
    '/data/accessType',
  ],
  [
    '/v2/users/add',
    { organizationId: 'acme', users: [{ ...ann, accessRole: 'viewr' }] },
    '/data/users/0/accessRole',
  ],
]

const variables: readonly (readonly [name: string, meant: string])[] = [
  ['WEFT_DATA', 'WEFT_DATA_DIR'],
  ['WEFT_PROT', 'WEFT_PORT'],
  ['WEFT_HSOT', 'WEFT_HOST'],
  ['WEFT_APIKEY', 'WEFT_API_KEY'],
  ['WEFT_AUTHTOKEN', 'WEFT_AUTH_TOKEN'],
  ['WEFT_ADMIN_TOKEN_FIEL', 'WEFT_ADMIN_TOKEN_FILE'],
  ['WEFT_JWT', 'WEFT_JWT_SECRET'],
  ['WEFT_JWT_ISSUERS', 'WEFT_JWT_ISSUER'],
  ['WEFT_LOGLEVEL', 'WEFT_LOG_LEVEL'],
  ['WEFT_MAX_BODY_BYTE', 'WEFT_MAX_BODY_BYTES'],
  ['WEFT_TRUSTPROXY', 'WEFT_TRUST_PROXY'],
  ['WEFT_POSTGRES', 'WEFT_POSTGRES_URL'],
  ['weft_durability', 'WEFT_DURABILITY'],
  ['WEFT__PORT', 'WEFT_PORT'],
  ['WEFT_CALLS_PER_KEY_PER_SECOND', 'WEFT_CALLS_PER_KEY'],
  ['WEFT_CONNECTS_PER_ADDRESS_BURST', 'WEFT_CONNECTS_PER_ADDRESS'],
  ['WEFT_MAX_HTTP_CONNECTIONS_PER_ADDRESS', 'WEFT_MAX_CONNECTIONS_PER_ADDRESS'],
]

/** Variables with a misspelled prefix `WEFT_`. */
const prefixes: readonly (readonly [name: string, meant: string])[] = [
  ['WETF_DATA_DIR', 'WEFT_DATA_DIR'],
  ['WEF_PORT', 'WEFT_PORT'],
  ['WFET_API_KEY', 'WEFT_API_KEY'],
  ['WEFTT_LOG_LEVEL', 'WEFT_LOG_LEVEL'],
  ['WEDT_AUTH_TOKEN_FILE', 'WEFT_AUTH_TOKEN_FILE'],
  ['WEFTPORT', 'WEFT_PORT'],
  ['WEFT-HOST', 'WEFT_HOST'],
  ['wetf_engine', 'WEFT_ENGINE'],
]

/** Variables of other programs. */
const foreign: Readonly<Record<string, string>> = {
  PORT: '80',
  URL: 'http://localhost',
  DATA: '/data',
  WEB_PORT: '80',
  TEST_DATA: '/data',
  NEXT_AUTH_TOKEN: 'x',
  WETTER_HOST: 'localhost',
  WET_COLOR: 'blue',
  SWIFT_URL: 'http://localhost',
  WEST_PORT: 'tcp://10.0.0.1:80',
  WEST_SERVICE_HOST: '10.0.0.1',
  WEST_PORT_80_TCP_ADDR: '10.0.0.1',
  WEFT_SERVICE_HOST: '10.0.0.1',
  [`WETF_${'A'.repeat(100_000)}_DATA`]: 'x',
}

const keys: readonly (readonly [name: string, meant: string])[] = [
  ['prot', 'port'],
  ['data', 'dataDir'],
  ['log_level', 'logLevel'],
  ['max-body-bytes', 'maxBodyBytes'],
  ['trustproxy', 'trustProxy'],
  ['WEFT_HOST', 'host'],
  ['callsPerKeyBurst', 'callsPerKey'],
]

/** Command lines, and the name in the message. */
const commandLines: readonly (readonly [args: readonly string[], meant: string])[] = [
  [['--prot', '1'], '--port'],
  [['serve', '--engin', 'memory'], '--engine'],
  [['doctor', '--dta-dir', 'x'], '--data-dir'],
  [['config', 'check', '--log-levl', 'info'], '--log-level'],
  [['doc', 'get', 'a/b/c', '--fromat', 'json'], '--format'],
  [['token', 'ann', '--organisation', 'acme'], '--organization'],
  [['init', '--evn'], '--env'],
  [['serve', '--data', 'x'], '--data-dir'],
  [['serve', '--DATA_DIR=x'], '--data-dir'],
  [['serve', '--max-body', '1'], '--max-body-bytes'],
  [['serve', '--body-bytes-per-key-per-second', '1'], '--body-bytes-per-key'],
  [['dcotor'], 'doctor'],
  [['doc', 'gte'], 'get'],
]

it('[CFG-3] tests more than 60 misspellings', () => {
  const all = [members, values, variables, prefixes, keys, commandLines].flatMap((each) => [...each])
  expect(all.length).toBeGreaterThan(60)
})

describe('a call', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer()
    dataOf(await server.post('/v2/organizations/add', { organizations: [{ organizationId: 'acme' }] }))
    dataOf(await server.post('/v2/crdt/add', { ...editor, type: 'text', data: 'kept' }))
  })
  afterAll(() => server?.stop())

  it('[CFG-3] rejects a call with a misspelled member, suggests the intended name, and changes nothing', async () => {
    const world = async () => [
      dataOf(await server.post('/v2/crdt/get', at)),
      dataOf(await server.post('/v2/organizations/documents/get', { organizationId: 'acme' })),
      dataOf(await server.post('/v2/users/get', { organizationId: 'acme' })),
    ]
    const before = await world()
    for (const [path, data, meant] of members) {
      const { status, body } = await server.post(path, data)
      expect([path, status, body.error?.message]).toEqual([
        path,
        400,
        expect.stringMatching(new RegExp(`^/data/\\S+ is unknown \\(did you mean ${meant}\\?\\)$`)),
      ])
    }
    expect(await world()).toEqual(before)
  })

  it('[CFG-3] rejects a call with a misspelled value, and states the position of the value', async () => {
    for (const [path, data, place] of values) {
      const { status, body } = await server.post(path, data)
      expect([path, status, body.error?.details?.issues?.[0]?.path]).toEqual([path, 400, place])
    }
  })
})

describe('the command line', () => {
  const root = mkdtempSync(join(tmpdir(), 'weft-typos-'))
  afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

  it.each(commandLines)(
    '[CFG-3] for the misspelled command line %j, ends with exit code 2, and suggests the intended name',
    async (args, meant) => {
      const { code, err } = await runCli(args, root)
      expect([code, err]).toEqual([2, expect.stringContaining(`(did you mean ${meant}?)`)])
    },
  )

  it('[CFG-3] for a misspelled variable or key of the configuration file, ends with exit code 2, and suggests the intended name', async () => {
    const variable = await runCli(['config', 'check'], root, { WEFT_PROT: '9000' })
    expect([variable.code, variable.err]).toEqual([2, expect.stringContaining('did you mean WEFT_PORT?')])
    const file = join(root, 'typo.json')
    writeFileSync(file, '{"data": "/srv/weft"}')
    const key = await runCli(['config', 'check', '--config', file], root)
    expect([key.code, key.err]).toEqual([2, expect.stringContaining('did you mean dataDir?')])
  })

  it.each(variables)('[CFG-3] rejects the variable %s, and suggests %s', (name, meant) => {
    expect(() => checkVariables({ [name]: 'x' })).toThrow(`${name} (did you mean ${meant}?)`)
  })

  it.each(prefixes)('[CFG-11] warns about the variable %s, and suggests %s', (name, meant) => {
    expect(misspelledVariables({ ...foreign, [name]: 'x' })).toEqual([{ name, meant }])
  })

  it('[CFG-11] when the server starts, and in `config check`, warns about a variable with a misspelled prefix', async () => {
    const environment = { WETF_DATA_DIR: '/srv/weft', WEFT_HOST: '127.0.0.1', WEFT_PORT: '0' }
    const checked = await runCli(['config', 'check'], root, environment)
    expect(checked).toMatchObject({ code: 0, err: '' })
    expect(checked.out).toContain('WETF_DATA_DIR configures nothing (did you mean WEFT_DATA_DIR?)')
    const running = startCli(['serve', '--engine', 'memory'], root, environment)
    const [line] = await running.printed(/.*did you mean WEFT_DATA_DIR.*/)
    expect(JSON.parse(line)).toMatchObject({ level: 'warn', variable: 'WETF_DATA_DIR' })
    await running.printed(/"listening"/)
    running.child.kill('SIGTERM')
    await running.ended
  })

  it.each(keys)('[CFG-3] rejects the key %s of the configuration file, and suggests %s', (name, meant) => {
    const file = join(root, `${name}.json`)
    writeFileSync(file, JSON.stringify({ [name]: 'x' }))
    expect(() => readConfig({ flags: {}, environment: {}, file })).toThrow(
      `unknown option "${name}" in the configuration file (did you mean ${meant}?)`,
    )
  })

  it.each(['WEFT_ENGINE', 'WEFT_LOG_LEVEL', 'WEFT_DURABILITY', 'WEFT_AUTH'])(
    '[CFG-3] rejects a misspelled value of %s',
    (name) => {
      expect(() => readConfig({ flags: {}, environment: { [name]: 'memroy' }, file: null })).toThrow(name)
    },
  )
})
