import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Ran, runCli } from '../../support/servers/cli.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { adminToken, otherWorkspace } from '../../support/servers/tenants.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-call-'))
const dataDir = join(root, 'data')
const notes = { organizationId: 'acme', documentId: 'notes', editorId: 'main' }
const usagePath = '/v2/workspace/usage/get'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ engine: 'level', dataDir, adminToken })
  dataOf(await server.post('/v2/crdt/add', { ...notes, type: 'text', data: 'We ship.', userId: 'ann' }))
  const organizations = ['b', 'c'].map((organizationId) => ({ organizationId }))
  dataOf(await server.post('/v2/organizations/add', { organizations }))
})
afterAll(async () => {
  await server.stop()
  rmSync(root, { recursive: true, force: true, maxRetries: 20 })
})

const call = (path: string, data: object = {}, ...flags: readonly string[]): Promise<Ran> => {
  const there = ['--url', server.url, '--data-dir', dataDir]
  return runCli(['call', path, JSON.stringify(data), ...there, ...flags], root)
}
const pagesIn = ({ out }: Ran): readonly unknown[] =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)

it('[CMD-2] call prints the data of the response, and --json prints it in one line', async () => {
  const shown = await call('/v2/crdt/get', { ...notes, format: 'text' })
  expect(shown).toMatchObject({ code: 0, err: '' })
  expect(JSON.parse(shown.out)).toMatchObject([{ id: 'main', data: 'We ship.' }])
  expect(shown.out).toContain('\n  ')
  const line = await call('/v2/crdt/get', { ...notes, format: 'text' }, '--json')
  expect(pagesIn(line)).toMatchObject([[{ id: 'main', data: 'We ship.' }]])
})

it('[CMD-2] call reports further pages, and --all prints a line for each page', async () => {
  const first = await call('/v2/organizations/get', { pageSize: 2 }, '--json')
  expect(pagesIn(first)).toMatchObject([[{ id: 'acme' }, { id: 'b' }]])
  expect(first.err).toBe('there are more pages: --all reads them\n')
  const all = await call('/v2/organizations/get', { pageSize: 2 }, '--all')
  expect(all).toMatchObject({ code: 0, err: '' })
  expect(pagesIn(all)).toMatchObject([[{ id: 'acme' }, { id: 'b' }], [{ id: 'c' }]])
})

it('[CMD-2] call uses the token of the workspace with --workspace', async () => {
  const query = { by: 'organization', granularity: 'month', from: 0 }
  const own = await call(usagePath, query, '--workspace', '--json')
  expect(own).toMatchObject({ code: 0, err: '' })
  expect(pagesIn(own)).toMatchObject([[{ organizationId: 'acme', updates: 1 }]])
  const other = await otherWorkspace(server)
  const unknown = await call(usagePath, query, '--workspace', other.workspaceId)
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('set WEFT_WORKSPACE_AUTH_TOKEN')])
  // The token belongs to the first workspace.
  const wrong = await runCli(['call', usagePath, '--workspace'], root, {
    WEFT_URL: server.url,
    WEFT_WORKSPACE_ID: other.workspaceId,
    WEFT_WORKSPACE_AUTH_TOKEN: server.credentials.workspaceAuthToken,
  })
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('set WEFT_WORKSPACE_ID and')])
})

it.each([
  ['/v2/crdt/get', '{"organizationId":"acme","documentId":"absent"}', 'NOT_FOUND', 'weft doc ls'],
  ['/v2/crdt/versions/get', '{}', 'INVALID_ARGUMENT', '/data/organizationId is required'],
  ['/v2/crdt/gte', '{}', 'the operation /v2/crdt/gte does not exist', ''],
  ['/v2/crdt/get', '{organizationId}', 'the data is not a JSON object', 'quote it for the shell'],
  ['/v2/crdt/get', '[]', 'the data is not a JSON object', 'quote it for the shell'],
])('[CMD-2] call names the problem and the remedy: %s %s', async (path, data, problem, remedy) => {
  const { code, err } = await runCli(['call', path, data, '--url', server.url, '--data-dir', dataDir], root)
  expect(code).toBe(2)
  expect(err).toContain(problem)
  expect(err).toContain(remedy)
})

it.each([
  [{}, 'the URL of a running server is missing'],
  [{ WEFT_URL: 'ftp://a' }, 'is not a URL; expected a URL such as http://localhost:8787'],
  [{ WEFT_URL: 'http://127.0.0.1:9' }, 'start the server, or name its URL (--url, WEFT_URL)'],
])('[CMD-2] call names the remedy for %j', async (variables, remedy) => {
  const args = ['call', '/v2/organizations/get', '--data-dir', dataDir]
  expect((await runCli(args, root, variables)).err).toContain(remedy)
})
