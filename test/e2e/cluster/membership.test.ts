import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished } from 'vitest'
import { eventually } from '../../support/clients/clients.ts'
import { selfSigned } from '../../support/servers/certificates.ts'
import { runCli } from '../../support/servers/cli.ts'
import { type NatsServer, startNats } from '../../support/servers/nats.ts'
import { type PostgresServer, startPostgres } from '../../support/servers/postgres.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { itLong as it } from '../../support/time/full-run.ts'

describe('servers that share documents', () => {
  let nats: NatsServer
  let postgres: PostgresServer
  let data: string
  let environment: Record<string, string>
  const running: ServerProcess[] = []
  beforeAll(async () => {
    ;[nats, postgres] = await Promise.all([startNats(), startPostgres()])
  })
  afterAll(() => Promise.all([nats?.remove(), postgres?.remove()]))
  beforeEach(async () => {
    data = await mkdtemp(join(tmpdir(), 'weft-nodes-'))
    environment = {
      WEFT_ENGINE: 'postgres',
      WEFT_POSTGRES_URL: postgres.url,
      WEFT_POSTGRES_SCHEMA: postgres.newSchema(),
      WEFT_NATS_URL: nats.url,
      // The test calls the server at a high rate.
      WEFT_CALLS_PER_ADDRESS: '0',
    }
  })
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.end('SIGKILL')))
    await rm(data, { recursive: true, force: true, maxRetries: 20 })
  })

  const start = async (name: string, logTo?: number): Promise<ServerProcess> => {
    const given = { ...environment, WEFT_NODE_NAME: name, WEFT_LOG_LEVEL: 'info' }
    const server = await startProcess(join(data, name), given, undefined, undefined, logTo)
    running.push(server)
    return server
  }
  const measured = async ({ url }: ServerProcess, metric: string): Promise<string | undefined> => {
    const text = await (await fetch(`${url}/metrics`)).text()
    return new RegExp(`^${metric} (.*)$`, 'm').exec(text)?.[1]
  }
  const nodesAre = (servers: readonly ServerProcess[], count: number): Promise<void> =>
    eventually(async () => {
      const counts = await Promise.all(servers.map((server) => measured(server, 'weft_nodes')))
      return counts.every((each) => each === String(count))
    })

  it('[CL-20] all servers on one bus and database serve the same documents, and notice when a server stops', async () => {
    const [a, b, c] = [await start('a'), await start('b'), await start('c')]
    await nodesAre([a, b, c], 3)
    const address = { organizationId: 'acme', documentId: 'notes', editorId: 'main' }
    const written = { ...address, type: 'text', data: 'written at a' }
    expect((await a.post('/v2/crdt/add', written)).status).toBe(200)
    expect(JSON.stringify((await b.post('/v2/crdt/get', address)).data)).toContain('written at a')
    expect(await c.end('SIGTERM')).toBe(0)
    await nodesAre([a, b], 2)
    await b.end('SIGKILL')
    await nodesAre([a], 1)
    expect(await measured(a, 'weft_bus_connected')).toBe('1')
    expect((await a.post('/v2/crdt/get', address)).status).toBe(200)
  }, 60_000)

  it('[CL-21] while the bus is unavailable, serves documents, stays ready, and shows the outage in a metric', async () => {
    const own = await startNats()
    onTestFinished(() => own.remove())
    environment.WEFT_NATS_URL = own.url
    const a = await start('a')
    await own.kill()
    await eventually(async () => (await measured(a, 'weft_bus_connected')) === '0')
    expect((await fetch(`${a.url}/readyz`)).status).toBe(200)
    const address = { organizationId: 'acme', documentId: 'notes', editorId: 'main' }
    expect((await a.post('/v2/crdt/add', { ...address, type: 'text', data: 'alone' })).status).toBe(200)
    await own.start()
    await eventually(async () => (await measured(a, 'weft_bus_connected')) === '1')
    await eventually(async () => Number(await measured(a, 'weft_bus_losses_total')) > 0)
    expect(await a.end('SIGTERM')).toBe(0)
  }, 60_000)

  it('[CL-26] adds the name of the node to each log line after the node has joined the cluster', async () => {
    const path = join(data, 'log')
    const file = openSync(path, 'w')
    const a = await start('a', file)
    closeSync(file)
    const b = await start('b')
    await nodesAre([a, b], 2)
    expect(await a.end('SIGTERM')).toBe(0)
    const lines = readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{"'))
    const told = lines.map((line) => JSON.parse(line) as { msg: string; node?: string })
    const named = told.filter(({ node }) => node === 'a').map(({ msg }) => msg)
    expect(named).toEqual(expect.arrayContaining(['the list of nodes has changed', 'listening', 'stopped']))
    const isMade = told.findIndex(({ msg }) => msg === 'listening')
    expect(told.slice(isMade).filter(({ node }) => node !== 'a')).toEqual([])
  }, 60_000)

  it('[CL-22] requires the engine `postgres` for the bus, checks the URLs of the bus, and never prints them', async () => {
    const secret = 'nats://ada:not-to-be-told@127.0.0.1:4222'
    const other = await runCli(['serve', '--port', '0'], data, { WEFT_NATS_URL: secret })
    expect([other.code, other.err]).toEqual([
      2,
      expect.stringMatching(/WEFT_NATS_URL is set .* expected "postgres"/),
    ])
    const broken = { ...environment, WEFT_NATS_URL: 'http://ada:not-to-be-told@x' }
    const wrong = await runCli(['config', 'check'], data, broken)
    expect([wrong.code, wrong.err]).toEqual([
      2,
      expect.stringMatching(/WEFT_NATS_URL .* expected comma-separated URLs such as nats:/),
    ])
    const printed = await runCli(['config', 'print'], data, {
      ...environment,
      WEFT_NATS_URL: `${secret},${secret}`,
    })
    expect(printed.code).toBe(0)
    for (const { out, err } of [other, wrong, printed]) expect(out + err).not.toContain('not-to-be-told')
  }, 60_000)

  it('[CL-23] weft doctor checks the bus, with and without TLS, and reports remedies', async () => {
    const bus = async (more: Record<string, string>) => {
      const given = { ...environment, WEFT_PORT: '0', ...more }
      const { out } = await runCli(['doctor', '--json'], data, given)
      const { findings } = JSON.parse(out) as {
        findings: { name: string; verdict: string; found: string; help: string }[]
      }
      return findings.find(({ name }) => name === 'bus')
    }
    const found = expect.stringMatching(/^NATS 2\.\d+\.\d+, .* ms away, messages up to 1024 KB$/)
    expect(await bus({})).toMatchObject({ verdict: 'ok', found })
    const gone = await bus({ WEFT_NATS_URL: 'nats://ada:not-to-be-told@127.0.0.1:1' })
    expect(gone).toMatchObject({ verdict: 'fail', found: expect.stringMatching(/refused/) })
    expect(JSON.stringify(gone)).not.toContain('not-to-be-told')
    const { key, cert } = selfSigned('IP:127.0.0.1')
    const lines = (name: string, text: string) => ({ name, text })
    const files = [lines('key.pem', key), lines('cert.pem', cert)]
    const small = await startNats({
      configuration: 'max_payload: 64KB\ntls { cert_file: "cert.pem", key_file: "key.pem" }',
      files,
    })
    onTestFinished(() => small.remove())
    const url = small.url.replace('nats:', 'tls:')
    expect((await bus({ WEFT_NATS_URL: url }))?.verdict).toBe('fail')
    const trusting = { WEFT_NATS_URL: url, NODE_EXTRA_CA_CERTS: join(small.directory, 'cert.pem') }
    expect(await bus(trusting)).toMatchObject({
      verdict: 'warn',
      help: expect.stringContaining('max_payload'),
    })
  }, 60_000)
})
