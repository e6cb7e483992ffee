import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { compactAll } from '../../../src/capabilities/backups/storage/compact.ts'
import { openPostgresEngine } from '../../../src/cluster/postgres/engine.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { missing } from '../../support/needs.ts'
import { runCli } from '../../support/servers/cli.ts'
import { type PostgresServer, startPostgres } from '../../support/servers/postgres.ts'
import { startProcess } from '../../support/servers/process.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-upgrade-'))
let directories = 0
const newDirectory = (): string => join(root, `data-${++directories}`)
const address = { organizationId: 'acme', documentId: 'notes', editorId: 'main' }

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

interface Shown {
  readonly code: number | null
  readonly ok: boolean
  readonly findings: Readonly<Record<string, { verdict: string; found: string; help: string }>>
}

async function check(
  data: string,
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<Shown> {
  const command = ['upgrade', '--check', '--data-dir', data, '--json', ...args]
  const { code, out, err } = await runCli(command, root, environment)
  expect(err).toBe('')
  const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: { name: string; help: string }[] }
  const entries = findings.map(({ name, ...finding }) => [name, finding])
  return { code, ok, findings: Object.fromEntries(entries) as Shown['findings'] }
}

/** Returns the name, time, size and content of each file. */
function stateOf(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => {
      const found = statSync(path)
      const content = found.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : ''
      return `${path} ${found.mtimeMs} ${found.size} ${content}`
    })
}

it('[UPG-1] [UPG-2] weft upgrade --check reads a store that a server uses, and one that is stopped, and changes nothing', async () => {
  const data = newDirectory()
  const server = await startProcess(data)
  const added = await server.post('/v2/crdt/add', { ...address, type: 'text', data: 'Notes.' })
  expect(added.status).toBe(200)
  // A stopped process changes no file, so each difference comes from the command.
  server.child.kill('SIGSTOP')
  const used = stateOf(root)
  const whileUsed = await check(data)
  expect(stateOf(root)).toEqual(used)
  expect(whileUsed).toMatchObject({
    code: 0,
    ok: true,
    findings: {
      options: { verdict: 'ok' },
      'node version': { verdict: 'ok' },
      'store format': {
        verdict: 'ok',
        found: expect.stringMatching(/has format 2, .* writes format 2; .*nothing/),
      },
      downgrade: { verdict: 'ok', found: expect.stringMatching(/can open it again/) },
      'last backup': { verdict: 'warn', help: expect.stringMatching(/weft backup/) },
      'space for a backup': { verdict: 'ok' },
    },
  })
  server.child.kill('SIGCONT')
  expect(await server.post('/v2/crdt/get', address)).toMatchObject({
    status: 200,
    data: [{ data: 'Notes.' }],
  })
  expect(await server.end('SIGTERM')).toBe(0)
  const stopped = stateOf(root)
  // The free space changes at any time.
  const { 'space for a backup': _, ...others } = whileUsed.findings
  expect((await check(data)).findings).toMatchObject(others)
  expect(stateOf(root)).toEqual(stopped)
  // The compaction moves all records from LevelDB's log to a table.
  await compactAll(data, () => undefined)
  expect((await check(data)).findings['store format']).toEqual(whileUsed.findings['store format'])
})

it('[UPG-2] weft upgrade --check creates nothing if nothing is stored', async () => {
  const before = stateOf(root)
  const { code, findings } = await check(newDirectory())
  expect(code).toBe(0)
  expect(findings['store format']?.found).toMatch(/nothing is stored; a start creates format 2/)
  expect(stateOf(root)).toEqual(before)
})

it('[UPG-1] weft upgrade --check rejects a store of another format with the remedy', async () => {
  const data = newDirectory()
  await (await openLevelEngine({ directory: data })).close()
  const closed = join(data, 'store', 'CLOSED')
  const formatted = async (format: number): Promise<Shown> => {
    const noted = JSON.parse(readFileSync(closed, 'utf8')) as Readonly<Record<string, unknown>>
    writeFileSync(closed, JSON.stringify({ ...noted, format }))
    return check(data)
  }
  const newer = await formatted(9)
  expect(newer).toMatchObject({ code: 1, ok: false, findings: { 'store format': { verdict: 'fail' } } })
  expect(newer.findings['store format']).toMatchObject({
    found: expect.stringMatching(/format 9/),
    help: expect.stringMatching(/use the version that has written/),
  })
  expect(newer.findings.downgrade).toBeUndefined()
  const older = await formatted(1)
  expect(older).toMatchObject({
    code: 1,
    findings: { 'store format': { help: expect.stringMatching(/use the version that has written/) } },
  })
})

it('[UPG-1] weft upgrade --check names the remedy if no version has recorded the format of the store', async () => {
  const data = newDirectory()
  await (await openLevelEngine({ directory: data })).close()
  rmSync(join(data, 'store', 'CLOSED'))
  expect(await check(data)).toMatchObject({
    code: 1,
    findings: {
      'store format': {
        verdict: 'fail',
        found: expect.stringMatching(/stop its server, and run weft verify/),
      },
    },
  })
  expect(await runCli(['verify', data], root)).toMatchObject({ code: 0 })
  expect((await check(data)).findings['store format']).toMatchObject({ verdict: 'ok' })
})

it('[UPG-1] weft upgrade --check states the age of the last backup', async () => {
  const data = newDirectory()
  await (await openLevelEngine({ directory: data })).close()
  const since = async (hours: number) => {
    const at = new Date(Date.now() - hours * 3_600_000 - 60_000).toISOString()
    writeFileSync(join(data, 'last-backup'), `${at}\n`)
    return (await check(data)).findings['last backup']
  }
  expect(await since(2)).toMatchObject({ verdict: 'ok', found: expect.stringMatching(/, 2 hours old$/) })
  expect(await since(30)).toMatchObject({ verdict: 'warn', found: expect.stringMatching(/, 30 hours old$/) })
})

it('[UPG-1] weft upgrade --check compares with the version of a running server', async () => {
  const data = newDirectory()
  const server = await startProcess(data)
  const { findings } = await check(data, ['--url', server.url])
  expect(findings['running server']).toMatchObject({
    verdict: 'ok',
    found: expect.stringMatching(/^the server has version (\S+), and this is version \1: no upgrade$/),
  })
  await server.end('SIGTERM')
  const away = await check(data, ['--url', server.url])
  expect(away).toMatchObject({ code: 1, findings: { 'running server': { verdict: 'fail' } } })
})

it('[UPG-1] weft upgrade --check reports a newer server as a downgrade, and another program as a failure', async () => {
  let body = '{"name":"weft","version":"99.0.0"}'
  const other = createServer((_, response) => response.end(body)).listen(0, '127.0.0.1')
  await new Promise((resolve) => {
    other.once('listening', resolve)
  })
  const { port } = other.address() as { port: number }
  const url = `http://127.0.0.1:${port}`
  const data = newDirectory()
  expect(await check(data, ['--url', url])).toMatchObject({
    code: 0,
    findings: { 'running server': { verdict: 'warn', help: expect.stringMatching(/downgrade/) } },
  })
  body = 'hello'
  expect(await check(data, ['--url', url])).toMatchObject({
    code: 1,
    findings: { 'running server': { verdict: 'fail', found: expect.stringMatching(/is not a Weft server/) } },
  })
  other.close()
})

it('[UPG-3] weft upgrade --check reports unknown options and variables together with the other results', async () => {
  const file = join(root, 'old.config.json')
  writeFileSync(file, JSON.stringify({ maxConnection: 5, storePath: 'x', logLevel: 'error' }))
  const data = newDirectory()
  const { code, ok, findings } = await check(data, ['--config', file], { WEFT_STORE_PATH: 'x' })
  expect([code, ok]).toEqual([1, false])
  expect(findings.options).toMatchObject({ verdict: 'fail', help: expect.stringMatching(/CHANGELOG/) })
  for (const name of ['"maxConnection"', '(did you mean maxConnections?)', '"storePath"', 'WEFT_STORE_PATH'])
    expect(findings.options?.found).toContain(name)
  expect(findings['store format']?.verdict).toBe('ok')
})

it('[UPG-1] weft upgrade without --check, or with an invalid configuration, ends with code 2', async () => {
  expect(await runCli(['upgrade'], root)).toMatchObject({ code: 2, err: expect.stringMatching(/--check/) })
  expect(await runCli(['upgrade', '--check', '--port', 'x'], root)).toMatchObject({ code: 2 })
})

describe.skipIf(missing('postgres'))('weft upgrade --check with PostgreSQL', () => {
  it('[UPG-1] [UPG-2] states the format of a schema and the steps of a start, and changes nothing', async () => {
    const server: PostgresServer = await startPostgres()
    try {
      const schema = server.newSchema()
      const run = () =>
        check(newDirectory(), [], {
          WEFT_ENGINE: 'postgres',
          WEFT_POSTGRES_URL: server.url,
          WEFT_POSTGRES_SCHEMA: schema,
        })
      expect(await run()).toMatchObject({
        code: 0,
        findings: { 'store format': { found: 'nothing is stored; a start creates format 2.0' } },
      })
      const schemas = `select count(*)::int from information_schema.schemata where schema_name = '${schema}'`
      expect(await server.sql(schemas)).toEqual([{ count: 0 }])

      const engine = await openPostgresEngine({ url: server.url, schema })
      expect((await run()).findings['store format']?.found).toMatch(
        /has format 2\.0, .* a start changes nothing/,
      )
      await engine.close()
      const setFormat = (format: string) =>
        server.sql(`update ${schema}.meta set value = '${format}' where name = 'format'`)
      const stored = () => server.sql(`select value from ${schema}.meta where name = 'format'`)
      await setFormat('1.0')
      expect(await run()).toMatchObject({
        code: 0,
        findings: {
          'store format': {
            verdict: 'ok',
            found: expect.stringMatching(/format 1\.0, .* adds the parts of 1\.1 and 2\.0$/),
          },
          downgrade: { verdict: 'warn', found: expect.stringContaining('rejects it') },
        },
      })
      expect(await stored()).toEqual([{ value: '1.0' }])
      await setFormat('3.0')
      expect(await run()).toMatchObject({ code: 1, findings: { 'store format': { verdict: 'fail' } } })
      expect(await stored()).toEqual([{ value: '3.0' }])
    } finally {
      await server.remove()
    }
  })
})
