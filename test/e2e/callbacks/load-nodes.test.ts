import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { exampleWorkspace, TestCluster } from '../../cluster-faults/support/cluster.ts'
import { contentOf, eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { missing } from '../../support/needs.ts'
import { callbackCalls, callbackTests, json, send } from '../../support/servers/callback-servers.ts'
import { startCluster } from '../../support/servers/in-process-cluster.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { dataOf } from '../../support/servers/server.ts'
import { itLong, times } from '../../support/time/full-run.ts'

const { backend, atEnd } = callbackTests()
const credentials = {
  'x-service-api-key': exampleWorkspace.apiKey,
  'x-service-auth-token': exampleWorkspace.authToken,
}
const text = (data: string) => ({ type: 'text', data })
const contentIn = async (client: RawClient): Promise<string> => {
  await client.roundTrip()
  return contentOf([...client.offers(), ...client.updates()])
}

it('[CALL-36] calls once for clients of several nodes, and all of them converge', async () => {
  const cluster = await startCluster(3, { webhookAllowlist: ['127.0.0.1'] })
  atEnd(() => cluster.stop())
  const receiver = await backend((response) =>
    setTimeout(() => send(response, JSON.stringify(text('once'))), 200),
  )
  const nodes = cluster.servers.map(callbackCalls)
  await nodes[0]?.configure({ load: { url: receiver.url } })
  for (let round = 0; round < times(2, 15); round += 1) {
    const documentId = `d-${round}`
    const clients = await Promise.all(
      nodes.flatMap(({ connect }) => [connect(documentId), connect(documentId)]),
    )
    for (const client of clients) expect(await contentIn(client)).toBe('once')
    expect(receiver.hooks).toHaveLength(round + 1)
    clients[0]?.sendUpdate(typed('more', 9))
    for (const client of clients)
      await eventually(async () => (await contentIn(client)).length === 'oncemore'.length)
    for (const client of clients) client.end()
  }
})

describe('a killed server', () => {
  let data = ''
  let running: ServerProcess | null = null
  afterEach(async () => {
    await running?.end('SIGKILL')
    await rm(data, { recursive: true, force: true, maxRetries: 20 })
  })
  const begin = async () => {
    running = await startProcess(data, { WEFT_WEBHOOK_ALLOWLIST: '127.0.0.1', WEFT_DEFAULT_ACCESS: 'public' })
    return running
  }
  const connect = async (server: ServerProcess, documentId: string) =>
    RawClient.connect(`${server.wsUrl}/sync/acme/${documentId}/main?token=${await server.token()}`)

  it('[CALL-37] loads the content once after a kill between the response and the commit', async () => {
    data = await mkdtemp(join(tmpdir(), 'weft-load-kill-'))
    let server = await begin()
    const receiver = await backend(json(text('x'.repeat(1_000))))
    await server.post('/v2/workspace/callbacks/update', { load: { url: receiver.url } })
    for (let round = 0; round < times(2, 7); round += 1) {
      const documentId = `killed-${round}`
      const calls = receiver.hooks.length
      const killed = server
      // The kill follows the response by some milliseconds, before or after the commit.
      receiver.behavior = (response) => {
        send(response, JSON.stringify(text('x'.repeat(1_000))))
        setTimeout(() => killed.child.kill('SIGKILL'), (round * 3) % 7)
      }
      await (await connect(server, documentId)).closed
      await server.end('SIGKILL')
      receiver.behavior = json(text('x'.repeat(1_000)))
      server = await begin()
      const client = await connect(server, documentId)
      expect(await contentIn(client)).toHaveLength(1_000)
      expect(receiver.hooks.length - calls).toBeLessThanOrEqual(2)
      client.end()
    }
  }, 120_000)
})

describe.skipIf(missing('postgres'))('nodes over PostgreSQL', () => {
  itLong(
    '[CALL-36] [CALL-37] calls once across nodes, and again if the node that called was killed',
    async () => {
      const cluster = await TestCluster.start('small')
      atEnd(() => cluster.remove())
      const receiver = await backend((response) =>
        setTimeout(() => send(response, JSON.stringify(text('once'))), 300),
      )
      const [first, second] = cluster.nodes
      if (first === undefined || second === undefined) throw new Error('there are no nodes')
      const call = async (node: typeof first, path: string, data: object): Promise<unknown> =>
        dataOf(await node.post(path, data, credentials))
      await call(first, '/v2/workspace/callbacks/update', { load: { url: receiver.url, timeoutMs: 20_000 } })
      const read = async (node: typeof first, documentId: string): Promise<string> => {
        const editor = { organizationId: 'acme', documentId, editorId: 'main' }
        const [{ data }] = (await call(node, '/v2/crdt/get', editor)) as [{ data: string }]
        return data
      }
      const found = await Promise.all(cluster.nodes.flatMap((node) => [read(node, 'd'), read(node, 'd')]))
      expect(new Set(found)).toEqual(new Set(['once']))
      expect(receiver.hooks).toHaveLength(1)
      receiver.behavior = () => void first.kill()
      await read(first, 'killed').catch(() => null)
      receiver.behavior = json(text('once'))
      await eventually(async () => (await read(second, 'killed').catch(() => '')) === 'once')
      expect(receiver.hooks.length).toBeLessThanOrEqual(3)
    },
    240_000,
  )
})
