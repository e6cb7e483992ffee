import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CallDurations, slowCallsKeptMs, slowCallsMax } from '../../../src/core/metrics/call-durations.ts'
import type { LiveStatus } from '../../../src/rest/pages/status-page.ts'
import { type Editor, eventually, syncedEditor } from '../../support/clients/clients.ts'
import { runCli, startCli } from '../../support/servers/cli.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { HeldClock } from '../../support/time/clock.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-top-'))
const adminToken = 'an-admin-token-of-the-test'
const tokenFile = join(root, 'admin-token')
/** An id that reverses the direction of a line. */
const hostileId = 'calm\u202e'

let server: TestServer
const editors: Editor[] = []

beforeAll(async () => {
  writeFileSync(tokenFile, `${adminToken}\n`)
  server = await startTestServer({ adminToken })
  for (const [documentId, userId] of [
    ['busy', 'ada'],
    ['busy', 'bob'],
    [hostileId, 'cyd'],
  ] as const) {
    const path = ['acme', documentId, 'main'].map(encodeURIComponent).join('/')
    editors.push(await syncedEditor(server.wsUrl, path, await server.token(userId)))
  }
})

afterAll(async () => {
  for (const editor of editors) editor.close()
  await server.stop()
  rmSync(root, { recursive: true, force: true, maxRetries: 20 })
})

const statusOf = async (token: string): Promise<Response> =>
  fetch(`${server.url}/status`, { headers: { 'x-service-admin-token': token } })

/** Lets Ada type in the document `busy` until the returned function is called. */
function typing(): () => void {
  const timer = setInterval(() => editors[0]?.text.insert(0, 'x'), 50)
  return () => clearInterval(timer)
}

it('[TOP-1] /status lists open documents by their updates, only for the admin token', async () => {
  const stop = typing()
  try {
    const read = async () => (await (await statusOf(adminToken)).json()) as LiveStatus
    await read()
    let status = await read()
    await eventually(async () => {
      status = await read()
      return (status.documents[0]?.updatesPerSecond ?? 0) > 0
    })
    expect(status.documents.map(({ documentId, connections }) => ({ documentId, connections }))).toEqual([
      { documentId: 'busy', connections: 2 },
      { documentId: hostileId, connections: 1 },
    ])
    expect(status.documents[1]?.updatesPerSecond).toBe(0)
    expect(status.documents[0]?.sizeBytes).toBeGreaterThan(0)
    const labels = { protocol: 'y-websocket', transport: 'websocket' }
    expect(status.metrics).toContainEqual({ name: 'weft_connections', labels, value: 3 })
    expect(status.notReady).toBe(null)
  } finally {
    stop()
  }
  expect((await statusOf('wrong')).status).toBe(401)
  expect((await fetch(`${server.url}/status`)).status).toBe(400)
})

it('[TOP-2] /status lists the slowest calls with their documents, and not calls that wait for events', async () => {
  const target = { organizationId: 'acme', documentId: 'large', editorId: 'main' }
  const content = {
    entries: Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`key ${n}`, `${n}`])),
  }
  dataOf(await server.post('/v2/crdt/add', { ...target, type: 'map', data: content }))
  dataOf(await server.post('/v2/workspace/feed/update', { enabled: true }))
  dataOf(await server.post('/v2/feed/get', { from: 'now', waitSeconds: 1 }))
  const listed = async () => ((await (await statusOf(adminToken)).json()) as LiveStatus).slowCalls
  await eventually(async () => (await listed()).some(({ path }) => path === '/v2/crdt/add'), listed)
  const calls = await listed()
  expect(calls.find(({ path }) => path === '/v2/crdt/add')).toMatchObject({
    organizationId: 'acme',
    documentId: 'large',
    httpCode: 200,
  })
  expect(calls.map(({ path }) => path)).not.toContain('/v2/feed/get')
})

it('[TOP-2] keeps a bounded number of slow calls for 5 minutes', () => {
  const clock = new HeldClock()
  const calls = new CallDurations(clock)
  const note = (durationMs: number): void =>
    calls.note({
      path: '/v2/crdt/get',
      organizationId: null,
      documentId: null,
      httpCode: 200,
      durationMs,
      requestId: '',
    })
  note(99)
  expect(calls.list()).toEqual([])
  for (let index = 0; index < 10_000; index += 1) note(100 + ((index * 7919) % 10_000))
  expect(calls.list()).toHaveLength(slowCallsMax)
  expect(calls.list().map(({ durationMs }) => durationMs)).toEqual(
    Array.from({ length: slowCallsMax }, (_, index) => 10_099 - index),
  )
  clock.advance(slowCallsKeptMs + 1)
  expect(calls.list()).toEqual([])
})

it('[TOP-3] weft top prints documents, rates and slow calls, and no control characters of clients', async () => {
  const stop = typing()
  const args = ['top', server.url, '--token-file', tokenFile, '--interval', '1']
  try {
    const { code, out, err } = await runCli([...args, '--once'], root)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^weft \S+ {2}ready {2}http:\S+ {2}node \S+ {2}up .* UTC$/m)
    expect(out).toMatch(/^connections 3 \(y-websocket 3\)/m)
    expect(out).toMatch(/^acme\/busy\/main +2 +[1-9]\d*\.\d +[\d.]+ K?B$/m)
    expect(out).toMatch(/^acme\/calm\\u\{202e\}\/main +1 +0\.0 /m)
    expect(out).not.toMatch(/[^\P{C}\n]/u)
    const json = JSON.parse((await runCli([...args, '--once', '--json'], root)).out) as {
      point: { connections: number; updatesPerSecond: number }
      rates: { cpu: number }
    }
    expect(json.point.connections).toBe(3)
    expect(json.point.updatesPerSecond).toBeGreaterThan(0)
    expect(json.rates.cpu).toBeGreaterThan(0)
  } finally {
    stop()
  }
})

it('[TOP-3] weft top shows the values on the screen of a terminal, and restores it when it ends', async () => {
  const args = ['top', server.url, '--token-file', tokenFile, '--interval', '1']
  const running = startCli(args, root, { TERM: 'xterm' }, 'terminal')
  await running.printed(/\u001b\[\?1049h[\s\S]*acme\/busy\/main[\s\S]*q: quit/)
  // `script` does not pass the signal on, so it is sent to the command.
  const children = readFileSync(`/proc/${running.child.pid}/task/${running.child.pid}/children`, 'utf8')
  process.kill(Number(children.trim()), 'SIGTERM')
  const { out } = await running.ended
  expect(out).toContain('\u001b[?1049l')
})

it('[OPS-60] weft top and weft backup use the admin token of the data directory, which also opens the metrics', async () => {
  const data = join(root, 'own')
  const own = await startTestServer({
    engine: 'level',
    dataDir: data,
    metricsToken: 'a-metrics-token-of-tests',
  })
  try {
    const environment = { WEFT_DATA_DIR: data }
    const top = await runCli(['top', own.url, '--once', '--json'], root, environment)
    expect([top.code, top.err]).toEqual([0, ''])
    const backup = await runCli(['backup', own.url, join(root, 'own.backup')], root, environment)
    expect(backup).toMatchObject({ code: 0, out: expect.stringContaining('checked') })
    const metrics = (token: string) =>
      fetch(`${own.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
    const tokens = [own.credentials.adminToken ?? '', 'a-metrics-token-of-tests', 'another-token']
    expect(await Promise.all(tokens.map(async (token) => (await metrics(token)).status))).toEqual([
      200, 200, 401,
    ])
  } finally {
    await own.stop()
  }
})

it('[TOP-3] weft top names the remedy if the token is missing or wrong, or the server cannot be reached', async () => {
  const none = await runCli(['top', server.url], root)
  expect([none.code, none.err]).toEqual([2, expect.stringContaining('--token-file FILE')])
  const wrong = await runCli(['top', server.url, '--once'], root, { WEFT_ADMIN_TOKEN: 'wrong' })
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('WEFT_ADMIN_TOKEN on the server')])
  const away = await runCli(['top', 'http://127.0.0.1:9', '--once'], root, { WEFT_ADMIN_TOKEN: 'any' })
  expect([away.code, away.err]).toEqual([2, expect.stringContaining('start the server')])
})
