import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { operationList } from '../../../src/capabilities/list.ts'
import { type PlacedRecord, readAuditLog } from '../../../src/cli/audit.ts'
import type { AuditQuery } from '../../../src/core/audit/listing.ts'
import type { Schema } from '../../../src/core/base/schema.ts'
import type { Config } from '../../../src/core/config/config.ts'
import { exampleOf } from '../../../src/rest/openapi/examples.ts'
import { RawClient } from '../../support/clients/clients.ts'
import { makeWorld, startExampleServer } from '../../support/data/openapi-example-data.ts'
import { runCli } from '../../support/servers/cli.ts'
import { startTestServer } from '../../support/servers/server.ts'
import { pairsUnder } from '../../support/stores/stored-keys.ts'
import { itLong } from '../../support/time/full-run.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-audit-'))
const adminToken = 'an-admin-token-of-the-test'
const declared = {
  name: 'other',
  workspaceId: 'ws_other',
  workspaceAuthToken: 'a-workspace-token-of-the-test',
  apiKey: 'key_other',
  authToken: 'an-auth-token-of-the-test',
}

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

interface Line {
  readonly workspaceId?: string
  readonly timestamp: number
  readonly operation: string
  readonly outcome: string
  readonly apiKey?: string
  readonly ids: object
  readonly refusals?: { readonly count: number }
}

async function audited(directory: string, ...flags: string[]): Promise<readonly Line[]> {
  const { code, out, err } = await runCli(['audit', directory, '--json', ...flags], root)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
}

itLong(
  '[AUDIT-8] [AUDIT-9] records starts and backups in the audit logs, and weft audit shows all of these logs as one',
  async () => {
    const data = join(root, 'starts')
    const start = (more: Partial<Config> = {}) =>
      startTestServer({
        engine: 'level',
        dataDir: data,
        adminToken,
        workspaceId: 'ws_own',
        apiKey: 'key_own',
        ...more,
      })
    await (await start()).stop()
    await (await start()).stop()
    const third = await start({ bootstrap: [declared] })
    const admin = { 'x-service-admin-token': adminToken }
    const backup = await fetch(`${third.url}/backup`, { headers: admin })
    const bytes = Buffer.from(await backup.arrayBuffer())
    expect(bytes.includes('"operation":"/backup"')).toBe(true)
    await fetch(`${third.url}/backup`, { headers: { 'x-service-admin-token': 'wrong' } })
    await third.stop()
    const [workspaceId, apiKey] = [['ws_own'], ['key_own']]
    const other = { workspaceId: ['ws_other'] }
    const ofOther = { ...other, apiKey: ['key_other'] }
    const all = await audited(data)
    expect(all.map(({ operation, outcome, ids }) => [operation, outcome, ids])).toEqual([
      ['start', 'success', {}],
      ['start.workspace_made', 'success', { workspaceId }],
      ['start.api_key_made', 'success', { workspaceId, apiKey }],
      ['start.auth_token_made', 'success', { workspaceId, apiKey }],
      ['start', 'success', {}],
      ['start', 'success', {}],
      ['start.workspace_made', 'success', other],
      ['start.api_key_made', 'success', ofOther],
      ['start.auth_token_made', 'success', ofOther],
      ['/backup', 'success', {}],
      ['authentication.operator', 'UNAUTHENTICATED', {}],
    ])
    const flags = [
      '--workspace',
      'ws_other',
      '--api-key',
      'key_other',
      '--actor',
      'operator',
      '--since',
      '1h',
    ]
    expect(await audited(data, ...flags)).toEqual(all.slice(7, 9))
    const text = await runCli(['audit', data], root)
    expect(text.out.split('\n').filter((line) => line !== '')).toHaveLength(all.length)
    expect(text.out).toMatch(
      /^\S+Z {2}success {2}start\.workspace_made {2}operator ws_own {2}\{"workspaceId":\["ws_own"\]\}$/m,
    )
    expect((await runCli(['audit', root], root)).code).toBe(2)
    expect((await runCli(['audit', data, '--since', 'yesterday'], root)).err).toContain('Expected a date')
    const found = async (query: AuditQuery) =>
      (await placedRecords(data, query)).map(({ record }) => record.at)
    const times = all.map(({ timestamp }) => timestamp)
    const [ofBackup = 0] = await found({ operation: '/backup' })
    expect(ofBackup).toBe(times[9])
    expect(await found({ after: ofBackup - 1 })).toEqual(times.filter((at) => at >= ofBackup))
    expect(await found({ before: ofBackup })).toEqual(times.filter((at) => at < ofBackup))
    expect(await found({ actor: 'nobody' })).toEqual(times.slice(10))
  },
  120_000,
)

async function placedRecords(data: string, query: AuditQuery): Promise<readonly PlacedRecord[]> {
  const found: PlacedRecord[] = []
  for await (const placed of readAuditLog(data, query, null)) found.push(placed)
  return found
}

it('[AUDIT-9] weft audit shows control characters as codes, so that text cannot control a terminal or reverse a line', async () => {
  const data = join(root, 'names')
  const server = await startTestServer({ engine: 'level', dataDir: data, trustProxy: 1 })
  // A reverse proxy may forward any bytes. HTTP allows bytes from 0x80 on.
  const headers = { 'x-forwarded-for': 'proxy\u009b2Jname' }
  const organizations = [{ organizationId: 'left\u202eright\u2028next' }]
  expect((await server.post('/v2/organizations/add', { organizations }, headers)).status).toBe(200)
  await server.stop()
  const { out } = await runCli(['audit', data], root)
  expect(out).toContain('from proxy\\u{9b}2Jname  {"organizationId":["left\\u{202e}right\\u{2028}next"]}\n')
  expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
}, 60_000)

/** Operations that return or may return secrets, called on existing data. */
const handsOut = /workspace|auth|webhook/
/** Marker in every text that is not an id. */
const mark = 'MARKED'

/** Data that a schema accepts, with the marker in every text and member that is not an id. */
function marked(schema: Schema): unknown {
  if (schema.type === undefined)
    return schema.anyOf === undefined ? { [mark]: mark } : marked(schema.anyOf[0] as Schema)
  if (schema.type === 'string') return schema.enum?.[0] ?? (schema.format === 'id' ? 'an-id' : mark.repeat(3))
  if (schema.type === 'array') return [marked(schema.items)]
  if (schema.type === 'object' && schema.properties === undefined)
    return { [mark]: marked(schema.additionalProperties) }
  if (schema.type === 'object')
    return Object.fromEntries(Object.entries(schema.properties).map(([name, each]) => [name, marked(each)]))
  if (schema.type === 'boolean') return true
  return schema.type === 'null' ? null : (schema.minimum ?? 0)
}

/** Members of responses that are secret. */
const secretMembers = /token|secret/i

function secretsIn(value: unknown, name = ''): readonly string[] {
  if (typeof value === 'string') return secretMembers.test(name) && value.length > 10 ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([member, each]) => secretsIn(each, member))
}

itLong(
  '[AUDIT-4] from requests and responses, stores only ids in the audit log',
  async () => {
    const data = join(root, 'secrets')
    const { server, credentials } = await startExampleServer({
      engine: 'level',
      durability: 'process',
      dataDir: data,
      audit: 'all',
    })
    const levels: Readonly<Record<string, Record<string, string>>> = {
      key: {},
      workspace: {
        'x-service-workspace-id': credentials.workspaceId as string,
        'x-service-workspace-auth-token': credentials.workspaceAuthToken as string,
      },
      operator: { 'x-service-admin-token': credentials.adminToken as string },
    }
    const secrets = new Set(Object.entries(credentials).flatMap(([name, value]) => secretsIn(value, name)))
    let recorded = 0
    for (const { path, auth, request } of operationList) {
      const headers = { ...levels[auth], 'idempotency-key': mark, 'user-agent': mark }
      const made = handsOut.test(path) ? await makeWorld(server, path) : {}
      const told = Object.fromEntries(
        Object.entries(made).filter(([name]) => Object.hasOwn(request.properties, name)),
      )
      const answers = [
        await server.post(path, marked(request), headers),
        await server.post(path, { ...(exampleOf(request, 'request') as object), ...told }, headers),
        await server.post(path, {}, { 'x-service-api-key': mark, 'x-service-auth-token': mark }),
        await server.post(path, {}, { 'x-service-api-key': '', 'x-service-auth-token': mark }),
        await server.post(path, {}, { ...levels[auth], 'x-service-auth-token': mark }),
        await server.post(
          path,
          {},
          { 'x-service-workspace-id': mark, 'x-service-workspace-auth-token': mark },
        ),
        await server.post(path, {}, { 'x-service-admin-token': mark }),
      ]
      for (const { body } of answers) for (const secret of secretsIn(body)) secrets.add(secret)
      recorded += 1
    }
    const socket = await RawClient.connect(`${server.wsUrl}/sync/o/d/e?token=${mark}`)
    expect((await socket.closed).code).toBe(4401)
    await fetch(`${server.url}/backup?token=${mark}`, { headers: { 'x-service-admin-token': mark } })
    secrets.add(server.credentials.workspaceAuthToken).add(server.credentials.jwtSecret)
    await server.stop()
    const stored = await pairsUnder(data, 'audit')
    expect(stored.length).toBeGreaterThan(recorded)
    const text = stored.join('\n')
    for (const door of ['key', 'workspace', 'operator', 'realtime'])
      expect(text).toContain(`"authentication.${door}"`)
    expect(text).not.toContain(mark)
    // Secrets of the server and the workspace, and secrets from responses.
    expect(secrets.size).toBeGreaterThan(10)
    expect([...secrets].filter((secret) => text.includes(secret))).toEqual([])
  },
  120_000,
)
