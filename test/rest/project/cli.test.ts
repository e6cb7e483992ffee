import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { afterAll, expect, it } from 'vitest'
import { runCli, startCli } from '../../support/servers/cli.ts'
import { itLong } from '../../support/time/full-run.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-cli-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

let count = 0
function directory(): string {
  count += 1
  const path = join(root, String(count))
  mkdirSync(path)
  return path
}

const listening = /"port":(\d+).*"listening"|"msg":"listening".*"port":(\d+)/
const local = { WEFT_HOST: '127.0.0.1', WEFT_PORT: '0' }

const keptIn = (cwd: string): Record<string, string> =>
  JSON.parse(readFileSync(join(cwd, 'data/credentials.json'), 'utf8')) as Record<string, string>

it('[OPS-20] [RUN-2] [RUN-3] at each start in a terminal, prints the console link and a call that works', async () => {
  const cwd = directory()
  const first = startCli([], cwd, local, 'terminal')
  await first.printed(/listening {2}port=\d+/)
  const kept = keptIn(cwd)
  for (const name of ['apiKey', 'authToken', 'workspaceId', 'workspaceAuthToken'])
    expect(first.out()).toContain(kept[name])
  expect(first.out()).not.toContain(kept.jwtSecret)
  first.child.kill('SIGTERM')
  await first.ended
  const second = startCli([], cwd, local, 'terminal')
  const [, port] = await second.printed(/listening {2}port=(\d+)/)
  const out = second.out().replaceAll('\r', '')
  expect(out).toContain(`serves at http://localhost:${port}\n`)
  const workspace = `workspace=${kept.workspaceId}&workspaceToken=${kept.workspaceAuthToken}`
  const link = `/console#key=${kept.apiKey}&token=${kept.authToken}&${workspace}&admin=${kept.adminToken}`
  expect(out).toContain(`http://localhost:${port}${link}\n`)
  expect(out).toMatch(/^\d\d:\d\d:\d\d\.\d{3} {2}info {3}listening {2}port=\d+ {2}host=127\.0\.0\.1/m)
  const call = /curl [^}]*\}\}'/.exec(out)?.[0] ?? ''
  expect(
    JSON.parse(execFileSync('sh', ['-c', call.replace('curl', 'curl -s')], { encoding: 'utf8' })),
  ).toMatchObject({
    result: { status: 'success' },
  })
  second.child.kill('SIGTERM')
  await second.ended
})

it('[OPS-20] logs the name of the credentials file at the first start, and logs no secret', async () => {
  const cwd = directory()
  const first = startCli([], cwd, local)
  await first.printed(listening)
  const kept = keptIn(cwd)
  for (const secret of ['authToken', 'workspaceAuthToken', 'jwtSecret'])
    expect(first.out()).not.toContain(kept[secret])
  expect(first.out()).toContain('credentials.json (mode 0600)')
  expect(statSync(join(cwd, 'data/credentials.json')).mode & 0o777).toBe(0o600)
  const [, ...call] = /`\S+ (console[^`]*)`/.exec(first.out()) ?? []
  const [, port] = /"port":(\d+)/.exec(first.out()) ?? []
  const link = (await runCli(call.join('').split(' '), cwd)).out
  expect(link).toContain(`:${port}/console#`)
  expect(link).toContain(encodeURIComponent(kept.authToken ?? ''))
  first.child.kill('SIGTERM')
  expect((await first.ended).code).toBe(0)
  const second = startCli(['serve'], cwd, local)
  await second.printed(listening)
  expect(second.out()).not.toContain(kept.authToken)
  second.child.kill('SIGINT')
  second.child.kill('SIGTERM')
  expect((await second.ended).code).toBe(0)
})

it('[OPS-21] with --json, prints the credentials as one line of JSON, without the signing secret', async () => {
  const running = startCli(['serve', '--engine', 'memory', '--json'], directory(), local)
  await running.printed(listening)
  const [line = ''] = running.out().split('\n')
  expect(Object.keys(JSON.parse(line) as object).sort()).toEqual(
    ['port', 'apiKey', 'authToken', 'workspaceId', 'workspaceAuthToken'].sort(),
  )
  running.child.kill('SIGTERM')
  expect((await running.ended).code).toBe(0)
})

it('[OPS-22] [RUN-4] reports a problem that the operator must correct in one sentence, and ends with exit code 2', async () => {
  const cwd = directory()
  expect(await runCli([], cwd, { WEFT_PORT: 'x' })).toEqual({
    code: 2,
    out: '',
    err: 'weft: WEFT_PORT is "x"; expected a whole number from 0 to 65535\n',
  })
  const occupant = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => {
    occupant.once('listening', resolve)
  })
  const { port } = occupant.address() as AddressInfo
  const taken = await runCli(['--engine', 'memory', '--port', String(port)], cwd, { WEFT_HOST: '127.0.0.1' })
  expect(taken).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      new RegExp(
        `^weft: cannot listen on 127.0.0.1:${port}: the process ${process.pid} \\(.+\\) listens there; stop it, or choose another --port\n$`,
      ),
    ),
  })
  occupant.close()
})

it('[CFG-7] in every command, rejects a misspelled variable with exit code 2, and writes nothing', async () => {
  const cwd = directory()
  for (const args of [[], ['init'], ['doctor'], ['verify', '.'], ['config', 'check']]) {
    const { code, err } = await runCli(args, cwd, { WEFT_DATA: join(cwd, 'wanted') })
    expect([args, code, err]).toEqual([
      args,
      2,
      'weft: Weft does not know the variable WEFT_DATA (did you mean WEFT_DATA_DIR?); `weft serve --help-options` lists the options\n',
    ])
  }
  expect(readdirSync(cwd)).toEqual([])
})

it('[CFG-9] logs the variables that an orchestrator injects, and starts', async () => {
  const injected = { WEFT_SERVICE_HOST: '10.0.0.1', WEFT_PORT: 'tcp://10.0.0.1:8787' }
  const args = ['--engine', 'memory', '--port', '0']
  const running = startCli(args, directory(), { WEFT_HOST: '127.0.0.1', ...injected })
  await running.printed(listening)
  expect(running.out()).toMatch(
    /"variables":\["WEFT_SERVICE_HOST","WEFT_PORT"\].*the server ignores variables/,
  )
  running.child.kill('SIGTERM')
  expect((await running.ended).code).toBe(0)
})

it('[OPS-23] a second process in the same data directory ends with one sentence and exit code 2', async () => {
  const cwd = directory()
  const first = startCli([], cwd, local)
  await first.printed(listening)
  const second = await runCli([], cwd, local)
  expect(second.code).toBe(2)
  expect(second.err).toMatch(/^weft: [^\n]+\n$/)
  first.child.kill('SIGTERM')
  await first.ended
})

itLong('[OPS-24] config print shows values and their sources, and config check validates them', async () => {
  const cwd = directory()
  const environment = { WEFT_PORT: '99', WEFT_METRICS_TOKEN: 'a-secret-metrics-token' }
  const printed = await runCli(['config', 'print', '--json'], cwd, environment)
  const shown = JSON.parse(printed.out) as Record<string, unknown>
  expect(shown).toMatchObject({
    port: { value: 99, source: 'environment' },
    metricsToken: { value: '(secret)', source: 'environment' },
  })
  expect((await runCli(['config', 'print', '--markdown'], cwd)).out).toContain(
    '| `--port` `WEFT_PORT` | `8787` |',
  )
  expect(
    await runCli(['config', 'check'], cwd, { ...environment, WEFT_SERVICE_HOST: '10.0.0.1' }),
  ).toMatchObject({
    code: 0,
    out: 'WEFT_SERVICE_HOST describes a service of an orchestrator and is skipped\nthe configuration is valid\n',
  })
  expect((await runCli(['config', 'check', '--port', 'x'], cwd)).code).toBe(2)
})

it('[OPS-25] weft token creates a token with the configured signing secret, and fails without a secret', async () => {
  const cwd = directory()
  expect((await runCli(['token', 'ann'], cwd)).code).toBe(2)
  const environment = {
    WEFT_JWT_SECRET: 'a-signing-secret-of-more-than-32-bytes',
    WEFT_WORKSPACE_ID: 'ws',
    WEFT_API_KEY: 'key',
  }
  const args = [
    'token',
    'ann',
    '--organization',
    'acme',
    '--document',
    'plan',
    '--role',
    'suggester',
    '--expires-in',
    '60',
  ]
  const { out } = await runCli(args, cwd, environment)
  expect(decodeJwt(out.trim())).toMatchObject({
    sub: 'ann',
    ws: 'ws',
    key: 'key',
    grants: [{ type: 'document', id: 'plan', organizationId: 'acme', accessRole: 'suggester' }],
  })
})

it('[OPS-26] with --version, prints the version of the package', async () => {
  const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  expect((await runCli(['--version'], directory())).out.trim()).toBe(manifest.version)
})
