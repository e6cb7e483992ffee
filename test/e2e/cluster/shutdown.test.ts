import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect } from 'vitest'
import type { Engine } from '../../../src/core/store/engine.ts'
import { type Editor, eventually, RawClient, syncedEditor } from '../../support/clients/clients.ts'
import { startCluster, type TestCluster } from '../../support/servers/in-process-cluster.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'
import { sharedNodes } from '../../support/servers/simulated-network.ts'
import { callsOf, HookReceiver, hanging } from '../../support/servers/webhook-servers.ts'
import { itLong as it } from '../../support/time/full-run.ts'
import { gate } from '../../support/time/gate.ts'

const path = 'acme/stopping/main'
const document = { organizationId: 'acme', documentId: 'stopping', editorId: 'main' }
const ends: (() => unknown)[] = []
let cluster: TestCluster

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const server = (index: number): TestServer => cluster.servers[index] as TestServer
const engine = (index: number): Engine => (cluster.nodes[index] as { engine: Engine }).engine

async function start(count: number): Promise<void> {
  cluster = await startCluster(count, { shutdownSeconds: 6 })
  ends.push(() => cluster.stop())
}

async function rawAt(index: number, userId: string, { wsUrl, token } = server(index)): Promise<RawClient> {
  const client = await RawClient.connect(`${wsUrl}/sync/${path}?token=${await token(userId)}`)
  ends.push(() => client.end())
  await client.roundTrip()
  return client
}

async function editorAt(index: number): Promise<Editor> {
  const editor = await syncedEditor(server(index).wsUrl, path, await server(index).token(`user-${index}`))
  ends.push(() => editor.close())
  return editor
}

const readiness = async (index: number): Promise<{ status: number; text: string }> => {
  const response = await fetch(`${server(index).url}/readyz`)
  return { status: response.status, text: await response.text() }
}

it('[CF-10] at first, a stopping node is not ready but still serves new clients and calls; then it closes all sockets with 1012', async () => {
  await start(2)
  const early = await rawAt(0, 'ann')
  const stopped = server(0).server.close()
  const { status, text } = await readiness(0)
  expect([status, text.includes('the server is draining')]).toEqual([503, true])
  const late = await rawAt(0, 'bob')
  const added = await server(0).post('/v2/crdt/add', { ...document, type: 'text', data: 'late' })
  expect(added.status).toBe(200)
  expect([await early.closed, await late.closed]).toMatchObject([{ code: 1012 }, { code: 1012 }])
  expect(
    Array.from({ length: 50 }, (_, at) => engine(1).cluster.owner(['ws', 'key', `${at}`]).id),
  ).not.toContain(engine(0).cluster.self)
  await stopped
  expect(engine(1).cluster.nodes()).toEqual([engine(1).cluster.self])
})

it('[CF-11] when a node stops while a client writes, closes the socket with 1012 and no other code, and loses no edit', async () => {
  await start(2)
  const [ann, bob] = [await editorAt(0), await editorAt(1)]
  const codes: (number | undefined)[] = []
  ann.provider.on('connection-close', (event) => codes.push(event?.code))
  let typed = 0
  const typing = setInterval(() => {
    typed += 1
    ann.text.insert(ann.text.length, 'x')
  }, 5)
  ends.push(() => clearInterval(typing))
  const stopped = server(0).server.close()
  await eventually(() => codes.length > 0)
  // Routes the client to the other node, as a load balancer does.
  Object.defineProperty(ann.provider, 'url', {
    value: `${server(1).wsUrl}/sync/${path}?token=${await server(1).token('ann')}`,
  })
  await eventually(() => ann.provider.wsconnected && ann.provider.synced)
  clearInterval(typing)
  await eventually(() => bob.text.length === typed)
  expect([...new Set(codes)]).toEqual([1012])
  await stopped
})

it('[CF-12] when a stopping node closes a client, the other nodes remove the client immediately', async () => {
  await start(2)
  const [ann, bob] = [await rawAt(0, 'ann'), await rawAt(1, 'bob')]
  ann.sendAwareness(7, 1, { user: { name: 'Ann' } })
  await eventually(() => bob.awareness().some(({ clientId, state }) => clientId === 7 && state !== null))
  // The node leaves the list after that.
  const [node, seen] = [{ ...engine(0) }, gate()]
  Object.assign(engine(0), { close: () => seen.opened.then(() => node.close()) })
  const stopped = server(0).server.close()
  await ann.closed
  await eventually(() => bob.awareness().some(({ clientId, state }) => clientId === 7 && state === null))
  expect(engine(1).cluster.nodes()).toContain(engine(0).cluster.self)
  seen.open()
  await stopped
  expect(engine(1).cluster.nodes()).not.toContain(engine(0).cluster.self)
})

it('[CF-13] when a node stops, another node immediately delivers its waiting webhooks', async () => {
  const data = await mkdtemp(join(tmpdir(), 'weft-stopping-'))
  ends.push(() => rm(data, { recursive: true, force: true, maxRetries: 20 }))
  const [one, two] = (await sharedNodes(2)) as unknown as [{ engine: Engine }, { engine: Engine }]
  const options = { data, webhookAllowlist: ['127.0.0.1'] }
  const first = await startTestServer(options, { engine: one.engine })
  const receiver = await HookReceiver.start(hanging)
  ends.push(() => receiver.stop())
  const calls = callsOf(first)
  await calls.begin()
  await calls.endpoint(receiver.url, { filterTypes: ['document.create'] })
  for (const name of ['a', 'b', 'c']) await calls.document(name)
  await eventually(() => receiver.hooks.length === 1)
  const second = await startTestServer(options, { engine: two.engine })
  ends.push(() => second.stop())
  receiver.behavior = (response) => response.writeHead(200).end()
  await first.stop()
  await eventually(
    () => receiver.hooks.length === 4,
    () => receiver.documentIds,
    3_000,
  )
  expect(receiver.documentIds).toEqual(['a', 'a', 'b', 'c'])
})
