import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runCli } from '../support/cli.ts'
import { startTestServer } from '../support/server.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-doctor-'))
const data = join(root, 'data')
const local = { WEFT_HOST: '127.0.0.1', WEFT_PORT: '0', WEFT_MAX_CONNECTIONS: '100' }

afterAll(() => rmSync(root, { recursive: true, force: true }))

interface Told {
  readonly ok: boolean
  readonly findings: readonly { readonly name: string; readonly verdict: string; readonly help: string }[]
}

async function examined(environment: Readonly<Record<string, string>>) {
  const { code, out } = await runCli(['doctor', '--data', data, '--json'], root, { ...local, ...environment })
  const { ok, findings } = JSON.parse(out) as Told
  const verdicts = Object.fromEntries(findings.map(({ name, verdict }) => [name, verdict]))
  for (const { verdict, help } of findings) expect(help === '').toBe(verdict === 'ok')
  return { code, ok, verdicts }
}

it('[STORE-11] where all is well it says so of each condition, before and after the first start', async () => {
  expect(await examined({})).toMatchObject({
    code: 0,
    ok: true,
    verdicts: { 'data directory': 'ok', port: 'ok' },
  })
  const server = await startTestServer({ engine: 'level', data })
  await server.stop()
  const { verdicts } = await examined({})
  expect(Object.keys(verdicts)).toEqual([
    'configuration',
    'node version',
    'data directory',
    'free disk space',
    'disk sync',
    'stored files',
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

it('[STORE-11] what is not as it should be is named, with what to do', async () => {
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
    WEFT_PROT: '1',
    WEFT_MAX_CONNECTIONS: '1000000',
    WEFT_DURABILITY: 'process',
  })
  occupant.close()
  expect(found).toMatchObject({
    code: 1,
    ok: false,
    verdicts: { configuration: 'warn', 'data directory': 'warn', 'disk sync': 'warn', port: 'fail' },
  })
  const { out } = await runCli(['doctor', '--data', data], root, local)
  expect(out).toContain(`chmod 700 ${data}`)
})
