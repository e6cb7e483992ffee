import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RawClient, typed } from '../../support/clients/clients.ts'
import { type ReadUsage, totalOf, workspaceHeaders } from '../../support/data/usage.ts'
import { missing } from '../../support/needs.ts'
import { type PostgresServer, startPostgres } from '../../support/servers/postgres.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { itLong } from '../../support/time/full-run.ts'

const headers = workspaceHeaders({ workspaceId: 'test', workspaceAuthToken: 'test-workspace-token' })

let data: string
const running: ServerProcess[] = []

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'weft-usage-crash-'))
})
afterEach(async () => {
  for (const server of running.splice(0)) await server.end('SIGKILL')
  await rm(data, { recursive: true, force: true, maxRetries: 20 })
})

async function start(options: Record<string, string> = {}, directory = data): Promise<ServerProcess> {
  const server = await startProcess(directory, { WEFT_CALLS_PER_KEY: '0', ...options })
  running.push(server)
  return server
}

async function end(server: ServerProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  running.splice(running.indexOf(server), 1)
  await server.end(signal)
}

async function usageOf(server: ServerProcess) {
  const answer = await server.post('/v2/workspace/usage/get', { organizationId: 'acme' }, headers)
  return totalOf(answer.data as readonly ReadUsage[])
}

let sent = 0
/** Opens a connection on which a client sends updates. Resolves when they are stored. */
async function type(server: ServerProcess, updates: number, token: string): Promise<RawClient> {
  const client = await RawClient.connect(`${server.wsUrl}/sync/acme/notes/main?token=${token}`)
  for (let index = 0; index < updates; index++) client.sendUpdate(typed('x', ++sent))
  await client.roundTrip()
  return client
}

const call = (server: ServerProcess) =>
  server.post('/v2/crdt/get', { organizationId: 'acme', documentId: 'notes' })

/** Makes usage before and after a stop and two crashes of one server. */
async function checkCrashes(options: Record<string, string>): Promise<void> {
  let server = await start(options)
  const token = await server.token()
  const first = await type(server, 5, token)
  await call(server)
  await end(server, 'SIGTERM')
  first.end()
  server = await start(options)
  expect(await usageOf(server)).toMatchObject({
    connectionsOpened: 1,
    connectionsPeak: 1,
    updates: 5,
    calls: 1,
  })
  const second = await type(server, 7, token)
  await call(server)
  const shown = await usageOf(server)
  expect(shown).toMatchObject({ connectionsOpened: 2, connectionsPeak: 1, updates: 12, calls: 2 })
  await end(server, 'SIGKILL')
  second.end()
  server = await start(options)
  const afterCrash = await usageOf(server)
  expect(afterCrash).toEqual({ ...shown, bytesSent: afterCrash.bytesSent })
  expect(afterCrash.bytesSent).toBeGreaterThanOrEqual(shown.bytesSent)
  const third = await type(server, 1, token)
  await end(server, 'SIGKILL')
  third.end()
  server = await start(options)
  // The counts since the last write are lost, because it was less than a minute ago.
  expect(await usageOf(server)).toMatchObject({ connectionsOpened: 2, updates: 12, calls: 2 })
}

it(
  '[USE-3] keeps all counts over a stop, and the counts in a response over SIGKILLs',
  () => checkCrashes({}),
  60_000,
)

describe.skipIf(missing('postgres'))('over PostgreSQL', () => {
  let postgres: PostgresServer
  beforeEach(async () => {
    postgres = await startPostgres()
  })
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.end('SIGKILL')))
    await postgres?.remove()
  })
  const options = (name: string) => ({
    WEFT_ENGINE: 'postgres',
    WEFT_POSTGRES_URL: postgres.url,
    WEFT_NODE_NAME: name,
  })

  itLong(
    '[USE-3] keeps all counts over a stop, and the counts in a response over SIGKILLs',
    () => checkCrashes(options('a')),
    120_000,
  )

  itLong(
    '[USE-4] adds up the counts of two nodes',
    async () => {
      const nodes = [await start(options('a'), join(data, 'a')), await start(options('b'), join(data, 'b'))]
      const token = (await nodes[0]?.token()) ?? ''
      const clients: RawClient[] = []
      for (const [index, node] of nodes.entries()) {
        // Each node has one client more than the one before.
        for (let client = 0; client <= index; client++) clients.push(await type(node, 10, token))
        await call(node)
      }
      // The response of a node shows the current counts of this node.
      for (const node of nodes) await usageOf(node)
      for (const node of nodes)
        expect(await usageOf(node)).toMatchObject({
          connectionsOpened: 3,
          connectionsPeak: 3,
          updates: 30,
          calls: 2,
        })
      for (const client of clients) client.end()
    },
    120_000,
  )
})
