import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runCli } from '../../support/servers/cli.ts'
import { startTestServer } from '../../support/servers/server.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-doctor-'))
const data = join(root, 'data')
const local = { WEFT_HOST: '127.0.0.1', WEFT_PORT: '0', WEFT_MAX_CONNECTIONS: '100' }

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

interface Told {
  readonly ok: boolean
  readonly findings: readonly { readonly name: string; readonly verdict: string; readonly help: string }[]
}

async function examined(environment: Readonly<Record<string, string>>) {
  const { code, out } = await runCli(['doctor', '--data-dir', data, '--json'], root, {
    ...local,
    ...environment,
  })
  const { ok, findings } = JSON.parse(out) as Told
  const verdicts = Object.fromEntries(findings.map(({ name, verdict }) => [name, verdict]))
  for (const { verdict, help } of findings) expect(help === '').toBe(verdict === 'ok')
  return { code, ok, verdicts }
}

it('[STORE-11] weft doctor reports before and after the first start that each condition is met', async () => {
  expect(await examined({})).toMatchObject({
    code: 0,
    ok: true,
    verdicts: { 'data directory': 'ok', port: 'ok' },
  })
  const server = await startTestServer({ engine: 'level', dataDir: data })
  await server.stop()
  const { verdicts } = await examined({})
  expect(Object.keys(verdicts)).toEqual([
    'configuration',
    'node version',
    'data directory',
    'free disk space',
    'disk sync',
    'stored files',
    'credentials',
    'clock',
    'open files',
    'port',
  ])
  expect(verdicts).toMatchObject({
    configuration: 'ok',
    'data directory': 'ok',
    'stored files': 'ok',
    clock: 'ok',
  })
  expect(readdirSync(data).sort()).toEqual(['credentials.json', 'store'])
})

it('[STORE-11] weft doctor reports each problem with its remedy', async () => {
  mkdirSync(data, { recursive: true })
  chmodSync(data, 0o755)
  const occupant = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => {
    occupant.once('listening', resolve)
  })
  const address = occupant.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const found = await examined({
    WEFT_PORT: String(port),
    WEFT_MAX_CONNECTIONS: '1000000',
    WEFT_DURABILITY: 'process',
  })
  occupant.close()
  expect(found).toMatchObject({
    code: 1,
    ok: false,
    verdicts: { configuration: 'ok', 'data directory': 'warn', 'disk sync': 'warn', port: 'fail' },
  })
  const { out } = await runCli(['doctor', '--data-dir', data], root, local)
  expect(out).toContain(`chmod 700 ${data}`)
})

it('[STORE-20] when the log was truncated after a clean stop, weft doctor states the remedy, and the server does not start', async () => {
  const server = await startTestServer({ engine: 'level', dataDir: data })
  await server.stop()
  const store = join(data, 'store')
  truncateSync(join(store, readdirSync(store).find((name) => name.endsWith('.log')) ?? ''), 100)
  expect(await examined({})).toMatchObject({ code: 1, verdicts: { 'stored files': 'fail' } })
  const { out } = await runCli(['doctor', '--data-dir', data], root, local)
  expect(out).toContain(`remove ${join(store, 'CLOSED')}`)
  await expect(startTestServer({ engine: 'level', dataDir: data })).rejects.toThrow(
    /acknowledged writes were lost/,
  )
})
