import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ReadUsage, workspaceHeaders } from '../../support/data/usage.ts'
import { type Ran, runCli } from '../../support/servers/cli.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { adminToken, otherWorkspace } from '../../support/servers/tenants.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-usage-'))
/** An id that reverses the direction of a line. */
const hostileId = 'a\u202e'

let server: TestServer
let environment: Readonly<Record<string, string>>

beforeAll(async () => {
  server = await startTestServer({ adminToken })
  environment = {
    WEFT_URL: server.url,
    WEFT_WORKSPACE_ID: server.credentials.workspaceId,
    WEFT_WORKSPACE_AUTH_TOKEN: server.credentials.workspaceAuthToken,
  }
  const editor = { documentId: 'notes', editorId: 'main', type: 'text', data: 'x' }
  for (const organizationId of ['acme', 'acme', 'zoo', hostileId])
    await server.post('/v2/crdt/add', { organizationId, ...editor })
})

afterAll(async () => {
  await server.stop()
  rmSync(root, { recursive: true, force: true, maxRetries: 20 })
})

const usage = (...args: readonly string[]): Promise<Ran> => runCli(['usage', ...args], root, environment)

const read = async (data: object): Promise<unknown> =>
  dataOf(await server.post('/v2/workspace/usage/get', data, workspaceHeaders(server.credentials)))

it('[USE-34] prints a table of the workspace for the last 24 hours', async () => {
  const { code, out, err } = await usage()
  expect([code, err]).toEqual([0, ''])
  const [header, row, ...more] = out.trimEnd().split('\n')
  expect(header?.split(/ {2,}/)).toEqual([
    'time (UTC)',
    'opened',
    'peak',
    'minutes',
    'updates',
    'calls',
    'bytes sent',
    'bytes stored',
  ])
  expect(row).toMatch(/^\d{4}-\d\d-\d\d \d\d:00 +0 +0 +0 +3 +\d+ +\d+ +\d+$/)
  // A test that runs over the end of an hour has two rows.
  expect(more.length).toBeLessThanOrEqual(1)
  expect(header?.length).toBe(row?.length)
})

it('[USE-34] prints the organizations, without control characters of their ids', async () => {
  const { code, out } = await usage('--by', 'organization', '--granularity', 'month', '--since', '7d')
  expect(code).toBe(0)
  const rows = out.trimEnd().split('\n').slice(1)
  const month = new Date().toISOString().slice(0, 7)
  expect(rows.map((row) => row.slice(0, 24).trimEnd())).toContain('acme')
  expect(rows.find((row) => row.startsWith('zoo '))).toMatch(
    new RegExp(`^zoo +${month} +0 +0 +0 +1 +1 +\\d+ +-$`),
  )
  expect(out).not.toContain('\u202e')
})

it('[USE-34] prints a line of JSON for each item with --json', async () => {
  const { code, out } = await usage('--by', 'organization', '--granularity', 'month', '--json')
  expect(code).toBe(0)
  const items = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as ReadUsage)
  expect(items).toEqual(await read({ by: 'organization', granularity: 'month' }))
  expect(items.length).toBe(3)
})

it('[USE-34] reads the workspace and the time that the flags name', async () => {
  const other = await otherWorkspace(server)
  const before = await usage('--since', '2020-01-01', '--until', '2020-01-02')
  expect([before.code, before.err]).toEqual([0, 'there was no usage in this time\n'])
  const unknown = await usage('--workspace', other.workspaceId)
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('set WEFT_WORKSPACE_AUTH_TOKEN')])
  // The token belongs to the first workspace.
  const wrong = await runCli(['usage'], root, { ...environment, WEFT_WORKSPACE_ID: other.workspaceId })
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('set WEFT_WORKSPACE_ID and')])
})

it('[USE-34] takes the credentials from the data directory of the server', async () => {
  const dataDir = join(root, 'data')
  const stored = await startTestServer({ engine: 'level', dataDir })
  try {
    const { code, out } = await runCli(['usage', '--url', stored.url, '--data-dir', dataDir], root)
    expect(code).toBe(0)
    expect(out).toMatch(/^time \(UTC\)/)
  } finally {
    await stored.stop()
  }
})

it.each([
  [['--until', '2020-01-01'], {}, 'the time of --until is not after that of --since'],
  [['--since', 'yesterday'], {}, 'Expected a date such as'],
  [[], { WEFT_URL: '' }, 'is not a URL; expected a URL such as http://localhost:8787'],
  [[], { WEFT_URL: 'http://127.0.0.1:9' }, 'start the server, or name its URL (--url, WEFT_URL)'],
  [
    ['--data-dir', root],
    { WEFT_WORKSPACE_ID: undefined },
    'set WEFT_WORKSPACE_ID and WEFT_WORKSPACE_AUTH_TOKEN',
  ],
  [['--data-dir', root], { WEFT_WORKSPACE_AUTH_TOKEN: undefined }, 'set WEFT_WORKSPACE_AUTH_TOKEN'],
])('[USE-34] names the remedy: %j %j', async (args, changed, remedy) => {
  const variables = Object.entries({ ...environment, ...changed }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  const { code, err } = await runCli(['usage', ...args], root, Object.fromEntries(variables))
  expect(code).not.toBe(0)
  expect(err).toContain(remedy)
})
