import { createServer } from 'node:net'
import { decodeAny, encodeAny } from 'lib0/buffer'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { operationList } from '../../../src/capabilities/list.ts'
import { systemClock } from '../../../src/core/base/clock.ts'
import { ForwardSigner, forwardedHeader } from '../../../src/core/forwarding/forward-signer.ts'
import { eventually } from '../../support/clients/clients.ts'
import { ContentStream } from '../../support/clients/content-stream.ts'
import { agentToken, connectMcp } from '../../support/clients/mcp-client.ts'
import { answering, HookReceiver } from '../../support/clients/webhook-receiver.ts'
import { callExample, type OpenApi } from '../../support/data/example-calls.ts'
import { documentOf, forwardedBy, textAt } from '../../support/servers/document-owners.ts'
import { startCluster, type TestCluster } from '../../support/servers/in-process-cluster.ts'
import { dataOf, metric, type TestServer } from '../../support/servers/server.ts'
import { callsOf } from '../../support/servers/webhook-servers.ts'

let cluster: TestCluster
afterEach(() => cluster.stop())

const server = (index: number): TestServer => cluster.servers[index] as TestServer

interface Audited {
  readonly operation: string
  readonly clientAddress: string
  readonly requestId: string
  readonly tool?: string
}

async function auditOf(operation: string): Promise<readonly Audited[]> {
  const { workspaceId, workspaceAuthToken } = server(0).credentials
  const headers = {
    'x-service-workspace-id': workspaceId,
    'x-service-workspace-auth-token': workspaceAuthToken,
  }
  const entries = dataOf(await server(0).post('/v2/workspace/audit/get', {}, headers)) as readonly Audited[]
  return entries.filter((entry) => entry.operation === operation)
}

it('[FW-1] runs calls for a document at its owner, whichever node receives them', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const added = await server(0).post('/v2/crdt/add', { ...ids, type: 'text', data: 'from afar' })
  expect(added.status).toBe(200)
  expect(added.body.result).toMatchObject({ status: 'success', data: { changed: true } })
  for (const index of [0, 1])
    expect(dataOf(await server(index).post('/v2/crdt/get', ids))).toMatchObject([{ data: 'from afar' }])
  expect(await forwardedBy(server(0), 'call')).toBe(2)
  expect(await forwardedBy(server(1), 'call')).toBeNaN()
  const missing = { ...ids, editorId: 'none', type: 'text', data: '' }
  const [near, far] = await Promise.all([1, 0].map((index) => server(index).post('/v2/crdt/update', missing)))
  expect(far?.body).toEqual(near?.body)
  expect(far?.status).toBe(404)
})

it("[FW-1] forwards the calls of y/hub to the document's owner, with their bodies", async () => {
  cluster = await startCluster(2, { audit: 'all' })
  const ids = documentOf(cluster, 1)
  await server(1).post('/v2/crdt/add', { ...ids, type: 'text', data: 'words', userId: 'ada' })
  const { apiKey, authToken } = server(0).credentials
  const headers = { 'x-service-api-key': apiKey, 'x-service-auth-token': authToken }
  const call = async (name: string, init: RequestInit = {}): Promise<unknown> => {
    const url = `${server(0).url}/yhub/${name}/v1/${ids.organizationId}/${ids.documentId}/${ids.editorId}`
    return decodeAny(new Uint8Array(await (await fetch(url, { headers, ...init })).arrayBuffer()))
  }
  expect(await call('activity')).toMatchObject({ activity: [{ by: 'ada' }] })
  const body = encodeAny({ by: 'ada' }) as Uint8Array<ArrayBuffer>
  expect(await call('rollback', { method: 'POST', body })).toMatchObject({ success: true, undone: 1 })
  expect(await textAt(server(1), ids)).toBe('')
  expect(await forwardedBy(server(0), 'call')).toBe(2)
  expect(await auditOf('/yhub/rollback/v1')).toHaveLength(1)
})

it('[FW-1] answers the example of each operation that the owner runs, each call at another node', async () => {
  cluster = await startCluster(3)
  const { apiKey, authToken } = server(0).credentials
  const api = (await (await fetch(`${server(0).url}/openapi.json`)).json()) as OpenApi
  const failed: string[] = []
  for (const { path, runsAt } of operationList) {
    if (runsAt !== 'owner') continue
    const anywhere: Pick<TestServer, 'post'> = { post: (...call) => cluster.any().post(...call) }
    const { status, body } = await callExample(anywhere, api, { apiKey, authToken }, path)
    if (status !== 200) failed.push(`${path}: ${body.error?.message}`)
  }
  expect(failed).toEqual([])
})

it('[FW-1] every operation that the owner runs names one document', () => {
  const atOwner = operationList.filter(({ runsAt }) => runsAt === 'owner')
  expect(atOwner.length).toBeGreaterThan(20)
  for (const { path, request, waits } of atOwner) {
    expect(request.required, path).toEqual(expect.arrayContaining(['organizationId', 'documentId']))
    expect(waits, path).toBeUndefined()
  }
})

it('[FW-2] counts a forwarded call once, and audits it once with the address and id of the client', async () => {
  cluster = await startCluster(2, { trustProxy: 1, callsPerKey: { perSecond: 1, burst: 4 }, audit: 'all' })
  const ids = documentOf(cluster, 1)
  const headers = { 'x-forwarded-for': '203.0.113.9', 'x-request-id': 'call-1' }
  const added = await server(0).post('/v2/crdt/add', { ...ids, type: 'text', data: 'x' }, headers)
  expect(added.headers.get('x-request-id')).toBe('call-1')
  expect(await auditOf('/v2/crdt/add')).toMatchObject([{ clientAddress: '203.0.113.9', requestId: 'call-1' }])
  const statuses: number[] = []
  for (let call = 0; call < 5; call++) statuses.push((await server(0).post('/v2/crdt/get', ids)).status)
  expect(statuses.slice(0, 3)).toEqual([200, 200, 200])
  expect(statuses).toContain(429)
})

it('[FW-2] audits the tool of a forwarded call', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  await server(1).post('/v2/crdt/add', { ...ids, type: 'text', data: 'some words' })
  const mcp = await connectMcp(server(0).url, await agentToken(server(0), 'agent-1'))
  const edits = [{ remove: { target: 'some ' } }]
  await mcp.use('edit_document', { documentId: ids.documentId, edits })
  await mcp.client.close()
  expect(await textAt(server(1), ids)).toBe('words')
  expect(await auditOf('/v2/crdt/edit')).toMatchObject([
    { tool: 'edit_document', clientAddress: '127.0.0.1' },
  ])
})

it('[FW-2] continues the trace of a forwarded call', async () => {
  cluster = await startCluster(2, { webhookAllowlist: ['127.0.0.1'] })
  const receiver = await HookReceiver.start(answering(200))
  onTestFinished(() => receiver.stop())
  const ids = documentOf(cluster, 1)
  await server(0).post('/v2/crdt/add', { ...ids, type: 'text', data: '' })
  const { begin, endpoint } = callsOf(server(0))
  await begin()
  await endpoint(receiver.url, { filterTypes: ['crdt.delete_data'] })
  const trace = '0af7651916cd43dd8448eb211c80319c'
  const headers = { traceparent: `00-${trace}-b7ad6b7169203331-01`, tracestate: 'congo=t61rcWkgMzE' }
  await server(0).post('/v2/crdt/delete', { ...ids, editorId: undefined }, headers)
  await eventually(() => receiver.hooks.length === 1)
  expect(receiver.hooks[0]?.headers).toMatchObject(headers)
})

it('[FW-2] remembers a call with an idempotency key once, whichever nodes receive it', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const call = (index: number) =>
    server(index).post('/v2/crdt/add', { ...ids, type: 'text', data: 'once' }, { 'idempotency-key': 'key-1' })
  const [first, second] = [await call(0), await call(1)]
  expect(second.body).toEqual(first.body)
  expect([first, second].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true'])
})

it('[FW-3] does nothing with a forwarded call for a document of another node, and sends it to the owner again', async () => {
  cluster = await startCluster(3)
  const [first, second] = cluster.nodes
  if (first === undefined || second === undefined) throw new Error('no nodes')
  const ids = documentOf(cluster, 2)
  const own = first.engine.cluster
  const owner = own.owner.bind(own)
  let asked = 0
  // The first node learns of the owner when it has sent the call to the second node.
  first.engine.cluster.owner = (document) => {
    asked += 1
    return asked <= 2 ? { id: 'node-2', url: server(1).url } : owner(document)
  }
  const added = await server(0).post('/v2/crdt/add', { ...ids, type: 'text', data: 'moved' })
  expect(added.status).toBe(200)
  expect(await forwardedBy(server(0), 'call')).toBe(1)
  first.engine.cluster.owner = () => ({ id: 'node-2', url: server(1).url })
  const lost = await server(0).post('/v2/crdt/update', { ...ids, type: 'text', data: 'lost' })
  expect(lost.status).toBe(503)
  expect(lost.headers.get('retry-after')).toBe('1')
  expect(lost.body.error).toMatchObject({
    status: 'UNAVAILABLE',
    details: { code: 'cluster/document-moved' },
  })
  expect(dataOf(await server(2).post('/v2/crdt/get', ids))).toMatchObject([{ data: 'moved' }])
})

it('[FW-4] ignores statements that no node has signed for the request', async () => {
  cluster = await startCluster(2, { audit: 'all' })
  const ids = documentOf(cluster, 0)
  const path = '/v2/crdt/add'
  const { jwtSecret } = server(0).credentials
  const statement = { node: 'node-2', clientAddress: '192.0.2.1', tool: null, websocket: null }
  const request = { method: 'POST', url: path, headers: { 'x-request-id': 'signed' } }
  const sign = (
    given: Parameters<ForwardSigner['sign']>[0],
    secret = jwtSecret,
    clock = systemClock,
  ): string => new ForwardSigner(secret, null, clock).sign(given, statement)
  const old = { ...systemClock, now: () => Date.now() - 31_000 }
  const headers = [
    sign(request),
    sign(request, 'another secret of at least 32 bytes!'),
    sign({ ...request, url: '/v2/crdt/update' }),
    sign({ ...request, headers: { 'x-request-id': 'another' } }),
    sign(request, jwtSecret, old),
    'nonsense',
    '',
  ]
  for (const [index, header] of headers.entries()) {
    const data = { ...ids, editorId: `editor-${index}`, type: 'text', data: '' }
    const answer = await server(0).post(path, data, { [forwardedHeader]: header, 'x-request-id': 'signed' })
    expect(answer.status).toBe(200)
  }
  const addresses = (await auditOf(path)).map(({ clientAddress }) => clientAddress)
  expect(addresses.filter((address) => address === '192.0.2.1')).toHaveLength(1)
  expect(addresses).toHaveLength(headers.length)
})

it('[FW-10] answers UNAVAILABLE if the owner cannot be reached', async () => {
  cluster = await startCluster(2)
  const [first] = cluster.nodes
  if (first === undefined) throw new Error('no node')
  const ids = documentOf(cluster, 1)
  await server(1).server.close()
  for (const url of [server(1).url, null]) {
    first.engine.cluster.owner = () => ({ id: 'node-2', url })
    const answer = await server(0).post('/v2/crdt/add', { ...ids, type: 'text', data: '' })
    expect(answer.status).toBe(503)
    expect(answer.body.error?.details?.code).toBe('cluster/owner-unreachable')
  }
})

it('[FW-10] answers UNAVAILABLE if the owner ends the connection before its response', async () => {
  cluster = await startCluster(2)
  const [first] = cluster.nodes
  if (first === undefined) throw new Error('no node')
  const silent = createServer((socket) => socket.once('data', () => socket.destroy()))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const address = silent.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  first.engine.cluster.owner = () => ({ id: 'node-2', url: `http://127.0.0.1:${port}` })
  const ids = documentOf(cluster, 1)
  const answer = await server(0).post('/v2/crdt/add', { ...ids, type: 'text', data: '' })
  expect(answer.body.error?.details?.code).toBe('cluster/owner-unreachable')
  silent.close()
})

it('[FW-11] counts forwarded calls and bytes', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const data = 'x'.repeat(10_000)
  await server(0).post('/v2/crdt/add', { ...ids, type: 'text', data })
  await server(0).post('/v2/crdt/get', ids)
  expect(await forwardedBy(server(0), 'call')).toBe(2)
  for (const direction of ['request', 'response'])
    expect(await metric(server(0), `weft_forwarded_bytes_total{direction="${direction}"}`)).toBeGreaterThan(
      10_000,
    )
})

it('[FW-8] passes streams of content to the owner', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  await server(1).post('/v2/crdt/add', { ...ids, type: 'text', data: '' })
  const stream = await ContentStream.open(server(0), { ...ids, edit: { insert: { at: 'end' } } })
  for (let piece = 0; piece < 20; piece++) stream.text('a piece. ')
  await stream.received(180)
  expect(await stream.end()).toMatchObject({ outcome: 'done', received: 180 })
  expect((await textAt(server(0), ids)).length).toBe(180)
  expect(await forwardedBy(server(0), 'stream')).toBe(1)
  const rejected = ContentStream.send(server(0), {
    ...ids,
    editorId: 'none',
    edit: { replace: { find: 'x' } },
  })
  expect(await rejected.error()).toMatchObject({ details: { code: 'crdt/no-content' } })
})
