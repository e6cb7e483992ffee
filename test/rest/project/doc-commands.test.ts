import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { treeOf } from '../../../src/cli/bench/cpu.ts'
import type { BenchReport } from '../../../src/cli/bench/main.ts'
import { environmentOf, isSecret, optionKeys } from '../../../src/core/config/config.ts'
import { eventually } from '../../support/clients/clients.ts'
import { runCli, startCli } from '../../support/servers/cli.ts'
import { dataOf, startTestServer } from '../../support/servers/server.ts'
import { itLong } from '../../support/time/full-run.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-commands-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

let count = 0
function directory(): string {
  count += 1
  const path = join(root, String(count))
  mkdirSync(path)
  return path
}

const linesOf = (text: string): readonly Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

const notes = { organizationId: 'acme', documentId: 'my notes', editorId: 'main' }
const address = 'acme/my%20notes/main'
/** More than one page. */
const others = Array.from({ length: 230 }, (_, index) => `other-${String(index).padStart(3, '0')}`)

/** Output of the commands below for a running server. */
const served: Record<string, string> = {}
const data = join(root, 'data')

const asked = (): Readonly<Record<string, readonly string[]>> => ({
  organizations: ['doc', 'ls', '--json'],
  documents: ['doc', 'ls', 'acme', '--json'],
  editors: ['doc', 'ls', 'acme/my%20notes', '--json'],
})

beforeAll(async () => {
  const server = await startTestServer({ engine: 'level', dataDir: data })
  const put = async (text: string) =>
    dataOf(await server.post('/v2/crdt/update', { ...notes, type: 'text', data: text, upsert: true }))
  await put('one\ntwo\nthree\n')
  await put('one\n2\nthree\nfour\n')
  const documents = others.map((documentId) => ({ documentId, documentName: `Name of ${documentId}` }))
  dataOf(await server.post('/v2/organizations/documents/add', { organizationId: 'acme', documents }))
  const there = ['--url', server.url, '--data-dir', data]
  await Promise.all(
    Object.entries(asked()).map(async ([name, args]) => {
      served[name] = (await runCli([...args, ...there], root)).out
    }),
  )
  await server.stop()
}, 30_000)

it('[CMD-1] doc ls lists organizations, all documents of an organization, and the editors of a document', () => {
  expect(linesOf(served.organizations ?? '').map(({ organizationId }) => organizationId)).toEqual(['acme'])
  const documents = linesOf(served.documents ?? '')
  expect(documents.map(({ documentId }) => documentId)).toEqual(['my notes', ...others])
  expect(documents.at(-1)).toMatchObject({ documentName: 'Name of other-229', disabled: false })
  expect(linesOf(served.editors ?? '')).toEqual([
    { ...notes, lastUpdated: expect.any(Number), lastUpdatedBy: '', sizeBytes: expect.any(Number) },
  ])
})

it('[CMD-1] doc ls prints the same for a stopped server as for a running server', async () => {
  // The time of an edit is that of its storage, a moment later.
  const timeless = (text = ''): string => text.replace(/"lastUpdated":\d+/g, '')
  for (const name of ['documents', 'editors']) {
    const { out } = await runCli([...(asked()[name] ?? []), '--data-dir', data], root)
    expect(timeless(out)).toBe(timeless(served[name]))
  }
})

it('[CMD-3] [DEF-4] init creates a usable configuration with restricted documents, and overwrites no file', async () => {
  const cwd = directory()
  const made = await runCli(['init', 'place', '--json'], cwd)
  const shown = JSON.parse(made.out) as Record<string, unknown>
  expect(shown).toMatchObject({ ok: true, files: ['place/weft.config.json', 'place/data'] })
  const place = join(cwd, 'place')
  const file = join(place, 'data/credentials.json')
  const kept = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
  expect(kept).toMatchObject({ apiKey: shown.apiKey, authToken: shown.authToken })
  expect(shown).not.toHaveProperty('jwtSecret')
  expect(
    [statSync(file), statSync(join(place, 'data'))].map(({ mode }) => (mode & 0o777).toString(8)),
  ).toEqual(['600', '700'])
  const config = JSON.parse(readFileSync(join(place, 'weft.config.json'), 'utf8')) as object
  expect(config).toMatchObject({ defaultAccess: 'restricted' })
  const again = await runCli(['init', 'place'], cwd)
  expect(again).toMatchObject({ code: 2, err: expect.stringContaining('nothing was changed') })
  const server = startCli(['serve'], place, { WEFT_HOST: '127.0.0.1', WEFT_PORT: '0' })
  const [, port] = await server.printed(/"port":(\d+).*"listening"/)
  const headers = {
    'content-type': 'application/json',
    'x-service-api-key': kept.apiKey ?? '',
    'x-service-auth-token': kept.authToken ?? '',
  }
  const call = { method: 'POST', headers, body: '{"data":{}}' }
  expect((await fetch(`http://127.0.0.1:${port}/v2/organizations/get`, call)).status).toBe(200)
  server.child.kill('SIGTERM')
  const { out } = await server.ended
  expect(out).not.toContain('Weft created credentials')
  // [CMD-4] The log names the command that prints the link, and not the link.
  expect(out).toMatch(/"port":\d+,"msg":"`weft console --port \d+` prints the link to the console"/)
  expect(out).not.toContain(kept.authToken)
})

it('[CMD-3] init prints next steps that work exactly as printed', async () => {
  const cwd = directory()
  const { out } = await runCli(['init', '--env', "Ann's place"], cwd)
  const enter = /cd (.*) && weft doctor/.exec(out)?.[1] ?? ''
  expect(execFileSync('sh', ['-c', `cd ${enter} && ls -A`], { cwd, encoding: 'utf8' })).toBe(
    '.env\nweft.config.json\n',
  )
})

it('[CMD-3] init --env writes the secrets of a deployment into a file that only its owner can read', async () => {
  const cwd = directory()
  expect((await runCli(['init', '--env'], cwd)).code).toBe(0)
  expect((statSync(join(cwd, '.env')).mode & 0o777).toString(8)).toBe('600')
  const lines = readFileSync(join(cwd, '.env'), 'utf8').trim().split('\n').slice(1)
  const environment = Object.fromEntries(lines.map((line) => line.split('=') as [string, string]))
  const { out } = await runCli(['config', 'print', '--json'], cwd, environment)
  const shown = JSON.parse(out) as Record<string, { value: unknown; source: string }>
  for (const name of ['workspaceId', 'workspaceAuthToken', 'apiKey', 'authToken', 'jwtSecret', 'adminToken'])
    expect(shown[name]?.source).toBe('environment')
  expect(shown.durability).toEqual({ value: 'disk', source: 'file' })
})

it('[CMD-4] console prints a link with the credentials, which the first start of the server also prints', async () => {
  const cwd = directory()
  const environment = { WEFT_API_KEY: 'key/1', WEFT_AUTH_TOKEN: 'token&of=sixteen#', WEFT_PORT: '99' }
  const link = '/console#key=key%2F1&token=token%26of%3Dsixteen%23'
  expect((await runCli(['console'], cwd, environment)).out).toBe(`http://localhost:99${link}\n`)
  const elsewhere = ['console', '--json', '--public-url', 'https://docs.example.com/']
  expect(JSON.parse((await runCli(elsewhere, cwd, environment)).out)).toEqual({
    url: `https://docs.example.com${link}`,
  })
  const first = startCli([], cwd, { WEFT_HOST: '127.0.0.1', WEFT_PORT: '0', WEFT_ENGINE: 'memory' })
  const [, url] = await first.printed(/^Console and a shared editor to try: (\S+)$/m)
  expect(url).toMatch(
    /^http:\/\/localhost:\d+\/console#key=key_\w+&token=[\w-]+&workspace=ws_\w+&workspaceToken=[\w-]+$/,
  )
  first.child.kill('SIGTERM')
  await first.ended
})

it('[CMD-4] console --open prints the link if it cannot open a browser', async () => {
  const cwd = directory()
  const environment = { WEFT_API_KEY: 'k', WEFT_AUTH_TOKEN: 'sixteen-letters-and-more' }
  const opening = async (program: string) => {
    // The names of the programs on different systems.
    for (const name of ['xdg-open', 'open'])
      writeFileSync(join(cwd, name), `#!/bin/sh\n${program}\n`, { mode: 0o755 })
    return runCli(['console', '--open'], cwd, { ...environment, PATH: cwd })
  }
  expect(await opening('exit 0')).toEqual({ code: 0, out: '', err: '' })
  expect((await opening('exit 3')).out).toMatch(/^http:.*\/console#key=k&token=sixteen\S+\n$/)
})

it('[CMD-1] doc ls prints a sentence for an empty list, but not with --json', async () => {
  const used = directory()
  const server = await startTestServer({ engine: 'level', dataDir: used })
  const there = ['--url', server.url, '--data-dir', used]
  const [none, json] = await Promise.all([
    runCli(['doc', 'ls', ...there], root),
    runCli(['doc', 'ls', '--json', ...there], root),
  ])
  await server.stop()
  expect(none).toEqual({ code: 0, out: '', err: 'there are no organizations yet\n' })
  expect(json).toEqual({ code: 0, out: '', err: '' })
})

it('[CMD-5] prints a failure as one sentence with the remedy, and with --json also as an object', async () => {
  const cwd = directory()
  const [nothing, misspelled, unreachable] = await Promise.all([
    runCli(['token', 'ann', '--json'], cwd),
    runCli(['dcotor'], cwd),
    runCli(['doc', 'ls', '--url', 'http://127.0.0.1:9', '--api-key', 'k'], cwd, {
      WEFT_AUTH_TOKEN: 'sixteen-letters-and-more',
    }),
  ])
  const { error } = JSON.parse(nothing.out) as { error: { message: string; hint: string } }
  expect(error.hint).toContain('weft init')
  expect(nothing).toMatchObject({ code: 2, err: `weft: ${error.message}; ${error.hint}\n` })
  expect(misspelled).toEqual({
    code: 2,
    out: '',
    err: "weft: unknown command 'dcotor' (did you mean doctor?); see weft --help\n",
  })
  expect(unreachable).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      /^weft: http:\/\/127.0.0.1:9 cannot be reached: .*; start the server[^\n]*\n$/,
    ),
  })
})

it('[CMD-5] when a command fails, prints a hint that fits the failure, such as another URL, format or command', async () => {
  const used = directory()
  const server = await startTestServer({ engine: 'level', dataDir: used })
  dataOf(await server.post('/v2/crdt/update', { ...notes, type: 'xml', data: '<p>a</p>', upsert: true }))
  const there = ['--url', server.url, '--data-dir', used]
  const said = async (args: readonly string[], hint: RegExp): Promise<void> => {
    const { code, err } = await runCli(args, root, { WEFT_PORT: '99' })
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(hint) })
  }
  await Promise.all([
    said(
      ['doc', 'ls', '--data-dir', used],
      /stop it first; or ask the server that has it open: --url URL\n$/,
    ),
    said(['backup', used, join(root, 'b')], /stop it first; or name the URL .*--token-file\n$/),
    said(['doc', 'ls', 'nobody', ...there], /NOT_FOUND.*; `weft doc ls` shows all there are\n$/),
    said(['doc', 'get', address, '--format', 'text', ...there], /; use --format xml\n$/),
    said(['doc', 'ls', 'nobody', '--data-dir', data], /; `weft doc ls` shows all there are\n$/),
    said(['verify', join(root, 'nothing')], /holds no store; give the path of the data directory/),
  ])
  await server.stop()
})

it('[CMD-8] lists only the options of a command in its help, and those of the configuration with --help-options', async () => {
  const { out } = await runCli(['upgrade', '--help'], root)
  for (const own of ['--check', '--url', '--json', '--help']) expect(out).toContain(` ${own}`)
  expect(out).not.toContain('--max-document-bytes')
  const options = await runCli(['token', '--help-options'], root)
  expect(options).toMatchObject({ code: 0, out: expect.stringContaining('--max-document-bytes'), err: '' })
})

it('[CMD-10] shows the defaults and the variables of options in the help of a command', async () => {
  const help = async (...args: string[]) => (await runCli(args, root)).out.replaceAll(/\s+/g, ' ')
  const [own, serve, get] = await Promise.all([
    help('serve', '--help'),
    help('serve', '--help-options'),
    help('doc', 'get', '--help'),
  ])
  expect(serve).toContain('(default: 8787; WEFT_PORT)')
  expect(own).toContain('(default: WEFT_CONFIG, else weft.config.json)')
  for (const key of optionKeys.filter(isSecret)) expect(serve).toContain(` ${environmentOf(key)} `)
  for (const name of ['WEFT_URL', 'WEFT_DATA_DIR', 'WEFT_WORKSPACE_ID', 'WEFT_API_KEY'])
    expect(get).toContain(`default: ${name}`)
  expect(get).toContain('default: "json"')
})

it('[CMD-7] bench sends load to another machine only with --allow-remote', async () => {
  const refused = await runCli(['bench', '--url', 'ws://weft.invalid:8787/sync'], directory())
  expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--allow-remote') })
  const other = await runCli(['bench', '--compare', 'ws://weft.invalid:8787/sync'], directory())
  expect(other).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--allow-remote') })
})

it('[CMD-7] bench names the scenarios if it does not know one', async () => {
  const refused = await runCli(['bench', '--scenario', 'hops'], directory())
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('there are saturated, ') })
})

/** Command line that measures one scenario quickly. */
const quickBench = (scenario: string, ...args: readonly string[]): readonly string[] => [
  'bench',
  '--quick',
  '--scenario',
  scenario,
  ...args,
]

const measuredBy = (out: string): BenchReport => JSON.parse(out) as BenchReport

it('[CMD-7] bench measures its own server, and prints the results', async () => {
  const cwd = directory()
  const page = join(cwd, 'report.html')
  const { out, code } = await runCli(quickBench('hop', '--json', '--html', page), cwd, { TMPDIR: cwd })
  expect(code).toBe(0)
  const { fsync, results, servers } = measuredBy(out)
  expect(fsync.p50).toBeGreaterThan(0)
  expect(servers.map(({ name }) => name)).toEqual(['weft'])
  expect(results.map(({ key }) => key)).toEqual(['check', 'hop'])
  const [run] = results[1]?.runs.weft ?? []
  expect(Object.keys(run?.figures ?? {})).toEqual(
    expect.arrayContaining(process.platform === 'linux' ? ['cpu', 'p50', 'p99'] : ['p50', 'p99']),
  )
  expect(readFileSync(page, 'utf8')).toMatch(/<svg.*prefers-color-scheme: dark.*<table>/s)
  expect(readdirSync(cwd)).toEqual(['report.html'])
})

it('[CMD-7] bench measures a running server with the token of a client, and compares it with another', async () => {
  const server = await startTestServer({ engine: 'level' })
  const place = ['--token', await server.token('ada'), '--document', 'acme/{name}/main']
  const compared = ['--compare', `${server.wsUrl}/hocuspocus`, '--compare-protocol', 'hocuspocus']
  const other = ['--compare-token', await server.token('ben'), '--compare-document', 'acme/{name}/main']
  const args = ['--url', `${server.wsUrl}/sync`, ...place, ...compared, ...other, '--rounds', '2']
  const { out, code } = await runCli(quickBench('rooms', ...args), directory())
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('(y-websocket), ') })
  const [, host = ''] = /^ws:\/\/(.*)$/.exec(server.wsUrl) ?? []
  // The CPU time of a server that runs is unknown, so it has no column. The ratio belongs to the second server.
  expect(out).not.toContain('CPU')
  expect(out).toMatch(new RegExp(`${host} \\(1\\) +[\\d.]+ \\([\\d.]+–[\\d.]+\\) `))
  expect(out).toMatch(new RegExp(`${host} \\(2\\) +[\\d.]+ \\([\\d.]+–[\\d.]+\\) +[\\d.]+ `))
  expect(out).not.toMatch(/NaN|Infinity/)
  const listed = dataOf(await server.post('/v2/organizations/documents/get', { organizationId: 'acme' }))
  expect(JSON.stringify(listed)).toContain('weft-bench-')
  await server.stop()
})

it('[CMD-7] bench reports why a server was not measured: a rejected token, a closed port, no command for a kill', async () => {
  const server = await startTestServer({ engine: 'level' })
  const place = ['--url', `${server.wsUrl}/sync`, '--document', 'acme/{name}/main']
  const outputs = await Promise.all(
    [
      place,
      ['--url', `${server.wsUrl}/hocuspocus`, '--protocol', 'hocuspocus', ...place.slice(2)],
      ['--url', 'ws://127.0.0.1:9'],
      [...place, '--token', await server.token('ada')],
    ].map((args) => runCli(quickBench('loss', ...args), directory())),
  )
  expect(outputs.map(({ code }) => code)).toEqual([1, 1, 1, 0])
  const failed = 'failed: the stock client of'
  expect(outputs.map(({ out }) => out)).toEqual([
    expect.stringContaining(`${failed} y-websocket has no document: the connection was closed with 4401`),
    expect.stringContaining(`${failed} hocuspocus has no document: the server rejected the token`),
    expect.stringMatching(/y-websocket has no document: the connection failed: .*ECONNREFUSED/),
    expect.stringMatching(/ {2}passed: .*\n\n.*\(loss\)\n.* is not measured: this needs the command/),
  ])
  await server.stop()
})

it('[CMD-7] bench leaves no files and no processes when it is interrupted', async () => {
  const cwd = directory()
  const running = startCli(['bench'], cwd, { TMPDIR: cwd })
  await eventually(() => readdirSync(cwd).some((name) => name.startsWith('weft-bench-')))
  running.child.kill('SIGHUP')
  expect((await running.ended).code).toBe(129)
  expect(readdirSync(cwd)).toEqual([])
})

/** Returns whether a process runs. One that has ended, but for which no other process waits, does not. */
function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ')
  } catch {
    return false
  }
}

it.runIf(process.platform === 'linux')(
  '[CMD-7] bench leaves no files and no processes when it is interrupted while its load generator is blocked',
  async () => {
    const cwd = directory()
    const running = startCli(['bench'], cwd, { TMPDIR: cwd })
    const started = () => treeOf(running.child.pid ?? 0).slice(1)
    await eventually(() => started().length === 2)
    const [generator = 0, server = 0] = started()
    process.kill(generator, 'SIGSTOP')
    try {
      running.child.kill('SIGTERM')
      await eventually(() => running.child.exitCode === 143)
      await eventually(() => !isRunning(generator) && !isRunning(server))
      expect(readdirSync(cwd)).toEqual([])
    } finally {
      for (const pid of [generator, server]) if (isRunning(pid)) process.kill(pid, 'SIGKILL')
    }
  },
)

itLong('[CMD-7] bench leaves no files when it gets a second signal', async () => {
  const cwd = directory()
  const running = startCli(['bench'], cwd, { TMPDIR: cwd })
  let printed = ''
  running.child.stderr?.on('data', (text: string) => {
    printed += text
  })
  await eventually(() => printed.includes('saturated'))
  running.child.kill('SIGINT')
  running.child.kill('SIGTERM')
  expect((await running.ended).code).toBeGreaterThan(128)
  expect(readdirSync(cwd)).toEqual([])
})

itLong('[CMD-7] bench names the reason if the server rejects its clients', async () => {
  const server = await startTestServer({ engine: 'level', maxConnections: 5 })
  const place = ['--token', await server.token('ada'), '--document', 'acme/{name}/main']
  const { out, code } = await runCli(
    quickBench('saturated', '--url', `${server.wsUrl}/sync`, ...place),
    directory(),
  )
  expect({ code, out }).toMatchObject({ code: 1, out: expect.stringContaining('refuses connections') })
  await server.stop()
})
