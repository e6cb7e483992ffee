import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { type ReadUsage, totalOf, workspaceHeaders } from '../../support/data/usage.ts'
import { agentToken } from '../../support/servers/agents.ts'
import { startNodes } from '../../support/servers/node-servers.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { adminToken, otherKey, otherWorkspace } from '../../support/servers/tenants.ts'
import { HeldClock } from '../../support/time/clock.ts'

const admin = { 'x-service-admin-token': adminToken }
const path = '/v2/organizations/get'

let stop = async (): Promise<void> => {}
afterEach(() => stop())

const setLimit = ({ post, credentials }: TestServer, data: object) =>
  post('/v2/workspace/calllimit/update', { workspaceId: credentials.workspaceId, ...data }, admin)

const limitOf = async ({ post, credentials }: TestServer) =>
  (dataOf(await post('/v2/workspace/get', {}, workspaceHeaders(credentials))) as { callLimit?: object })
    .callLimit

/** Calls until a call is rejected. Returns the number of accepted calls. */
async function accepted({ post }: TestServer, headers = {}): Promise<number> {
  for (let count = 0; ; count++) if ((await post(path, {}, headers)).status === 429) return count
}

for (const engine of ['memory', 'level'] as const)
  it(`[USE-20] limits the calls of one workspace with all its API keys, with the engine ${engine}`, async () => {
    const clock = new HeldClock(Math.floor(Date.now() / 1000) * 1000)
    const dataDir = await mkdtemp(join(tmpdir(), 'weft-call-limit-'))
    let server = await startTestServer({ adminToken, engine, dataDir }, { clock })
    stop = async () => {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true, maxRetries: 20 })
    }
    const other = await otherWorkspace(server)
    const key = await otherKey(server)
    expect(await limitOf(server)).toBeUndefined()
    expect((await setLimit(server, { callsPerSecond: 2, burst: 10 })).status).toBe(200)
    expect(await limitOf(server)).toEqual({ callsPerSecond: 2, burst: 10 })
    // The read of the workspace is the first call.
    for (let call = 0; call < 4; call++) expect((await server.post(path, {})).status).toBe(200)
    expect(await accepted(server, key.headers)).toBe(5)
    const refused = await server.post(path, {})
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.body.error?.details).toEqual({
      code: 'limit/exceeded',
      limit: 'callsPerWorkspace',
      value: 2,
      scope: 'workspace',
    })
    expect(await metric(server, 'weft_limit_hits_total{limit="callsPerWorkspace"}')).toBe(2)
    for (let call = 0; call < 20; call++)
      expect((await server.post(path, {}, other.headers)).status).toBe(200)
    clock.advance(3_000)
    expect(await accepted(server)).toBe(6)
    clock.advance(60_000)
    const usage = await server.post('/v2/workspace/usage/get', {}, workspaceHeaders(server.credentials))
    // 3 calls before the limit, 10 with its burst, 6 later, and this call. Rejected calls do not count.
    expect(totalOf(dataOf(usage) as readonly ReadUsage[]).calls).toBe(3 + 10 + 6 + 1)
    if (engine === 'level') {
      await server.stop()
      server = await startTestServer({ adminToken, engine, dataDir }, { clock })
      expect(await limitOf(server)).toEqual({ callsPerSecond: 2, burst: 10 })
    }
    expect((await setLimit(server, {})).status).toBe(200)
    for (let call = 0; call < 30; call++) expect((await server.post(path, {})).status).toBe(200)
    const unknown = { workspaceId: 'unknown', callsPerSecond: 2 }
    expect((await server.post('/v2/workspace/calllimit/update', unknown, admin)).status).toBe(404)
  })

it('[USE-32] limits the first parallel requests of streams after a start, and the messages of MCP batches', async () => {
  const clock = new HeldClock(Math.floor(Date.now() / 1000) * 1000)
  const dataDir = await mkdtemp(join(tmpdir(), 'weft-call-limit-'))
  const config = { adminToken, engine: 'level', dataDir } as const
  let server = await startTestServer(config, { clock })
  stop = async () => {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20 })
  }
  const token = await agentToken(server, 'bot')
  expect((await server.post('/v2/workspace/feed/update', { enabled: true })).status).toBe(200)
  expect((await setLimit(server, { callsPerSecond: 1, burst: 5 })).status).toBe(200)
  await server.stop()
  server = await startTestServer(config, { clock })
  const { apiKey, authToken } = server.credentials
  const headers = { 'x-service-api-key': apiKey, 'x-service-auth-token': authToken }
  const open = async (): Promise<number> => {
    const response = await fetch(`${server.url}/v2/feed/stream`, { headers })
    await response.body?.cancel()
    return response.status
  }
  const statuses = await Promise.all(Array.from({ length: 12 }, open))
  expect(statuses.filter((status) => status === 200)).toHaveLength(5)
  expect(new Set(statuses)).toEqual(new Set([200, 429]))
  clock.advance(60_000)
  const send = (body: unknown) =>
    fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    })
  const clientInfo = { name: 'test', version: '1' }
  const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo }
  const begun = await send({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
  await begun.text()
  const batch = Array.from({ length: 5 }, (_, id) => ({ jsonrpc: '2.0', id: 10 + id, method: 'ping' }))
  const accepted = await send(batch)
  await accepted.text()
  expect(accepted.status).toBe(200)
  // The batch has used the burst.
  expect((await send(batch[0])).status).toBe(429)
})

it('[USE-21] counts the calls of a workspace on all nodes together, and applies a limit of another node', async () => {
  const clock = new HeldClock(Math.floor(Date.now() / 1000) * 1000)
  const nodes = await startNodes(2, { adminToken }, { clock })
  stop = nodes.stop
  const [a, b] = nodes.servers as unknown as readonly [TestServer, TestServer]
  for (const node of [a, b]) expect((await node.post(path, {})).status).toBe(200)
  expect((await setLimit(a, { callsPerSecond: 1, burst: 10 })).status).toBe(200)
  clock.advance(10_000)
  // Each node reads the limit with this call.
  for (const node of [a, b]) expect((await node.post(path, {})).status).toBe(200)
  // The nodes exchange these calls, before the full burst is available again.
  clock.advance(250)
  for (const { url } of [a, b]) expect((await fetch(`${url}/healthz`)).status).toBe(200)
  clock.advance(60_000)
  expect(await accepted(a)).toBe(10)
  clock.advance(250)
  expect(await accepted(b)).toBe(0)
  clock.advance(5_000)
  expect(await accepted(b)).toBe(5)
  clock.advance(250)
  expect(await accepted(a)).toBe(0)
})
