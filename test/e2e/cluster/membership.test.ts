import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest'
import { eventually } from '../../support/clients/clients.ts'
import { type PostgresServer, startPostgres } from '../../support/servers/postgres.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { itLong as it } from '../../support/time/full-run.ts'

describe('servers that share documents', () => {
  let postgres: PostgresServer
  let data: string
  let environment: Record<string, string>
  const running: ServerProcess[] = []
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres?.remove())
  beforeEach(async () => {
    data = await mkdtemp(join(tmpdir(), 'weft-nodes-'))
    environment = {
      WEFT_ENGINE: 'postgres',
      WEFT_POSTGRES_URL: postgres.url,
      WEFT_POSTGRES_SCHEMA: postgres.newSchema(),
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

  it('[CL-20] all servers on one schema serve the same documents, and notice when a server stops', async () => {
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

  it('[CL-21] when the connection of its bus is lost, a node connects it again, stays ready, and counts the loss', async () => {
    const a = await start('a')
    const losses = async (): Promise<number> => Number(await measured(a, 'weft_bus_losses_total'))
    expect([await measured(a, 'weft_bus_connected'), await losses()]).toEqual(['1', 0])
    await postgres.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'weft bus'`,
    )
    await eventually(async () => (await losses()) > 0)
    expect((await fetch(`${a.url}/readyz`)).status).toBe(200)
    const address = { organizationId: 'acme', documentId: 'notes', editorId: 'main' }
    expect((await a.post('/v2/crdt/add', { ...address, type: 'text', data: 'text' })).status).toBe(200)
    await postgres.kill()
    await eventually(async () => (await measured(a, 'weft_bus_connected')) === '0')
    await postgres.start()
    await eventually(async () => (await measured(a, 'weft_bus_connected')) === '1')
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
})
