import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { afterAll, expect, it } from 'vitest'
import { runCli, startCli } from '../support/cli.ts'
import { itLong } from '../support/long.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-cli-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let count = 0
function directory(): string {
  count += 1
  const path = join(root, String(count))
  mkdirSync(path)
  return path
}

const listening = /"port":(\d+).*"listening"|"msg":"listening".*"port":(\d+)/
const local = { WEFT_HOST: '127.0.0.1', WEFT_PORT: '0' }

it('[OPS-20] weft serves; its first start prints credentials and a call that works, its second does not', async () => {
  const cwd = directory()
  const first = startCli([], cwd, local)
  await first.printed(listening)
  const kept = JSON.parse(readFileSync(join(cwd, 'data/credentials.json'), 'utf8')) as Record<string, string>
  for (const name of ['apiKey', 'authToken', 'workspaceId', 'workspaceAuthToken'])
    expect(first.out()).toContain(kept[name])
  expect(first.out()).not.toContain(kept.jwtSecret)
  expect(first.out()).toMatch(/curl http:\/\/localhost:\d+\/v2\/crdt\/add/)
  first.child.kill('SIGTERM')
  expect((await first.ended).code).toBe(0)
  const second = startCli(['serve'], cwd, local)
  await second.printed(listening)
  expect(second.out()).not.toContain(kept.authToken)
  second.child.kill('SIGINT')
  second.child.kill('SIGTERM')
  expect((await second.ended).code).toBe(0)
})

it('[OPS-21] with --json the credentials are one line of JSON, without the signing secret', async () => {
  const running = startCli(['serve', '--engine', 'memory', '--json'], directory(), local)
  await running.printed(listening)
  const [line = ''] = running.out().split('\n')
  expect(Object.keys(JSON.parse(line) as object).sort()).toEqual(
    ['port', 'apiKey', 'authToken', 'workspaceId', 'workspaceAuthToken'].sort(),
  )
  running.child.kill('SIGTERM')
  expect((await running.ended).code).toBe(0)
})

it('[OPS-22] what the operator has to put right is one sentence and exit code 2', async () => {
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
    err: `weft: cannot listen on 127.0.0.1:${port}: another process is listening there; stop it, or choose another --port\n`,
  })
  occupant.close()
})

it('[OPS-23] a second process on the same data directory is refused with a sentence and exit code 2', async () => {
  const cwd = directory()
  const first = startCli([], cwd, local)
  await first.printed(listening)
  const second = await runCli([], cwd, local)
  expect(second.code).toBe(2)
  expect(second.err).toMatch(/^weft: [^\n]+\n$/)
  first.child.kill('SIGTERM')
  await first.ended
})

itLong('[OPS-24] config print shows values and their sources, config check judges them', async () => {
  const cwd = directory()
  const environment = { WEFT_PORT: '99', WEFT_METRICS_TOKEN: 'a-secret-metrics-token', WEFT_PROT: '1' }
  const printed = await runCli(['config', 'print', '--json'], cwd, environment)
  const shown = JSON.parse(printed.out) as Record<string, unknown>
  expect(shown).toMatchObject({
    port: { value: 99, source: 'environment' },
    metricsToken: { value: '(secret)', source: 'environment' },
  })
  expect((await runCli(['config', 'print', '--markdown'], cwd)).out).toContain(
    '| `--port` `WEFT_PORT` | `8787` |',
  )
  expect(await runCli(['config', 'check'], cwd, environment)).toMatchObject({
    code: 0,
    out: expect.stringContaining('WEFT_PROT is set, but'),
  })
  expect((await runCli(['config', 'check', '--port', 'x'], cwd)).code).toBe(2)
})

it('[OPS-25] token makes a token with the secret of the data directory', async () => {
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
    'viewer',
    '--expires-in',
    '60',
  ]
  const { out } = await runCli(args, cwd, environment)
  expect(decodeJwt(out.trim())).toMatchObject({
    sub: 'ann',
    ws: 'ws',
    key: 'key',
    grants: [{ type: 'document', id: 'plan', organizationId: 'acme', accessRole: 'viewer' }],
  })
})

it('[OPS-26] --version is the version of the package', async () => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  expect((await runCli(['--version'], directory())).out.trim()).toBe(manifest.version)
})
