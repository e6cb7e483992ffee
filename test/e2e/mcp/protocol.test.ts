import { once } from 'node:events'
import { type ClientRequest, request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/clock.ts'
import { unlimited } from '../../../src/config/rate.ts'
import { openMemoryEngine } from '../../../src/engine/memory/engine.ts'
import { mcpLimits } from '../../../src/mcp/mcp-limits.ts'
import { eventually } from '../../support/clients/clients.ts'
import {
  addReport,
  agentToken,
  connectMcp,
  errorCodeOf,
  type McpTestClient,
} from '../../support/clients/mcp-client.ts'
import { startCluster } from '../../support/servers/in-process-cluster.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { otherKey } from '../../support/servers/tenants.ts'
import { holdable } from '../../support/stores/pausable-engine.ts'
import { HeldClock } from '../../support/time/clock.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ callsPerAgent: unlimited, publicUrl: 'http://localhost:8787' })
  await addReport(server, 'report')
})
afterAll(() => server.stop())

interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Sends a message without the SDK. */
async function send(
  message: unknown,
  headers: Readonly<Record<string, string>>,
  { url }: { readonly url: string } = server,
): Promise<RawAnswer> {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...headers,
    },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const initialize = (protocolVersion: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
})

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Returns the JSON-RPC messages of a response, which is JSON or a stream of events. */
const messagesOf = ({
  text,
}: RawAnswer): readonly {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number }
}[] =>
  text.startsWith('{')
    ? [JSON.parse(text)]
    : [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data) as object)

const codeOf = ({ text }: RawAnswer): unknown =>
  (JSON.parse(text) as { error: { details: { code: string } } }).error.details.code

/** Begins a session without the SDK. Returns the headers of its further requests. */
async function begin(
  token: string,
  version = '2025-11-25',
  to: { readonly url: string } = server,
): Promise<Record<string, string>> {
  const answer = await send(initialize(version), bearer(token), to)
  expect(answer.status).toBe(200)
  return {
    ...bearer(token),
    'mcp-session-id': String(answer.headers.get('mcp-session-id')),
    'mcp-protocol-version': version,
  }
}

const connect = async (token: string, to: TestServer = server): Promise<McpTestClient> => {
  const mcp = await connectMcp(to.url, token)
  onTestFinished(() => mcp.client.close())
  return mcp
}

describe('access to the MCP server', () => {
  it('[MCP-1] accepts the token of an agent only', async () => {
    const cases = [
      [{}, 401, 'agent/invalid-token'],
      [bearer('nonsense'), 401, 'agent/invalid-token'],
      [bearer(await server.token('ann')), 403, 'agent/token-required'],
      [
        bearer(await agentToken(server, 'bot', { expiresInSeconds: -1 }).catch(() => 'expired')),
        401,
        'agent/invalid-token',
      ],
      [
        {
          'x-service-api-key': server.credentials.apiKey,
          'x-service-auth-token': server.credentials.authToken,
        },
        401,
        'agent/invalid-token',
      ],
    ] as const
    for (const [headers, status, code] of cases) {
      const answer = await send(initialize('2025-11-25'), headers)
      expect([answer.status, codeOf(answer)]).toEqual([status, code])
      if (status === 401) expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
    }
  })

  it('[MCP-2] rejects pages of other sites, and answers pages that the API key lists', async () => {
    const token = await agentToken(server, 'paged')
    const from = (origin: string) => send(initialize('2025-11-25'), { ...bearer(token), origin })
    expect((await from('http://localhost:8787')).status).toBe(200)
    const evil = await from('http://evil.example.com')
    expect([evil.status, codeOf(evil)]).toEqual([403, 'auth/origin-not-allowed'])
    dataOf(await server.post('/v2/workspace/domains/add', { domains: ['agents.example.com'] }))
    const known = await from('https://agents.example.com')
    expect(known.status).toBe(200)
    expect(known.headers.get('access-control-allow-origin')).toBe('https://agents.example.com')
    expect(known.headers.get('access-control-expose-headers')).toContain('mcp-session-id')
    expect((await from('http://evil.example.com')).status).toBe(401)
  })
})

describe('the protocol', () => {
  it('[MCP-10] speaks the version of the client, and its latest version to clients with an unknown one', async () => {
    const token = await agentToken(server, 'versions')
    for (const version of ['2025-11-25', '2025-06-18', '2025-03-26']) {
      const [answer] = messagesOf(await send(initialize(version), bearer(token)))
      expect(answer?.result).toMatchObject({ protocolVersion: version, serverInfo: { name: 'weft' } })
      const headers = await begin(token, version)
      const [listed] = messagesOf(await send({ jsonrpc: '2.0', id: 2, method: 'tools/list' }, headers))
      expect(listed?.result).toMatchObject({ tools: expect.any(Array) })
    }
    const [other] = messagesOf(await send(initialize('2031-01-01'), bearer(token)))
    expect(other?.result).toMatchObject({ protocolVersion: '2025-11-25' })
    const headers = { ...(await begin(token)), 'mcp-protocol-version': '1999-01-01' }
    expect((await send({ jsonrpc: '2.0', id: 2, method: 'ping' }, headers)).status).toBe(400)
  })

  it('[MCP-11] keeps a session for its agent alone, and until it ends', async () => {
    const headers = await begin(await agentToken(server, 'owner'))
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }
    const other = { ...headers, ...bearer(await agentToken(server, 'thief')) }
    const stolen = await send(ping, other)
    expect([stolen.status, codeOf(stolen)]).toEqual([404, 'mcp/unknown-session'])
    // A newer token of the same agent continues the session.
    const renewed = { ...headers, ...bearer(await agentToken(server, 'owner')) }
    expect((await send(ping, renewed)).status).toBe(200)
    const ended = await fetch(`${server.url}/mcp`, { method: 'DELETE', headers })
    expect(ended.status).toBe(200)
    expect((await send(ping, headers)).status).toBe(404)
    const { 'mcp-session-id': _, ...without } = headers
    const missing = await send(ping, without)
    expect([missing.status, codeOf(missing)]).toEqual([400, 'mcp/session-required'])
  })

  it('[MCP-12] ends the session that was not used for the longest time if an agent has too many', async () => {
    const token = await agentToken(server, 'many')
    const sessions: Record<string, string>[] = []
    for (let count = 0; count < mcpLimits.sessionsPerAgent; count++) sessions.push(await begin(token))
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }
    const [first = {}, second = {}] = sessions
    expect((await send(ping, first)).status).toBe(200)
    await begin(token)
    expect((await send(ping, first)).status).toBe(200)
    expect((await send(ping, second)).status).toBe(404)
  })

  it('[MCP-62] a rejected initialize leaves no session, and ends no other', async () => {
    const token = await agentToken(server, 'rejected')
    const first = await begin(token)
    for (let count = 0; count <= mcpLimits.sessionsPerAgent; count++) {
      const answer = await send(initialize('2025-11-25'), { ...bearer(token), accept: 'text/plain' })
      expect([answer.status, answer.headers.get('mcp-session-id')]).toEqual([406, null])
    }
    expect((await send({ jsonrpc: '2.0', id: 2, method: 'ping' }, first)).status).toBe(200)
  })

  it('[MCP-63] the agents of an API key have at most 500 sessions, and do not take those of others', async () => {
    const full = await startTestServer({ callsPerAgent: unlimited })
    onTestFinished(() => full.stop())
    const key = await otherKey(full)
    const other = await agentToken(
      { ...full, post: (path, data) => full.post(path, data, key.headers) },
      'other',
    )
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }
    const ofOther = await begin(other, '2025-11-25', full)
    const sessions: Record<string, string>[] = []
    const streams: ClientRequest[] = []
    onTestFinished(() => {
      for (const stream of streams) stream.destroy()
    })
    for (let left = mcpLimits.sessionsPerKey; left > 0; left -= mcpLimits.sessionsPerAgent) {
      const token = await agentToken(full, `agent-${left}`)
      for (let count = 0; count < Math.min(left, mcpLimits.sessionsPerAgent); count++)
        sessions.push(await begin(token, '2025-11-25', full))
    }
    const late = await agentToken(full, 'late')
    const [first, second, ...rest] = sessions
    const lateHeaders = await begin(late, '2025-11-25', full)
    expect((await send(ping, { ...first }, full)).status).toBe(404)
    const held = [{ ...second }, ...rest, lateHeaders]
    for (const headers of held) {
      const stream = httpRequest(`${full.url}/mcp`, {
        headers: { ...headers, accept: 'text/event-stream' },
      }).end()
      streams.push(stream)
      const [response] = await once(stream, 'response')
      expect(response.statusCode).toBe(200)
    }
    const rejected = await send(initialize('2025-11-25'), bearer(await agentToken(full, 'rejected')), full)
    expect([rejected.status, codeOf(rejected)]).toEqual([429, 'limit/exceeded'])
    expect((await send(ping, ofOther, full)).status).toBe(200)
    await begin(other, '2025-11-25', full)
  })

  it('[MCP-64] [MCP-65] limits the messages of a batch, and its requests for resources', async () => {
    const limited = await startTestServer({ callsPerAgent: { perSecond: 1, burst: 60 } })
    onTestFinished(() => limited.stop())
    await addReport(limited, 'report')
    const token = await agentToken(limited, 'batch')
    const begun = await send(initialize('2025-03-26'), bearer(token), limited)
    const headers = { ...bearer(token), 'mcp-session-id': String(begun.headers.get('mcp-session-id')) }
    const batch = (size: number, method: string, params: object = {}) =>
      Array.from({ length: size }, (_, id) => ({ jsonrpc: '2.0', id: 10 + id, method, params }))
    const reads = batch(20, 'resources/read', { uri: 'weft://acme/report/main' })
    const answers = messagesOf(await send(reads, headers, limited))
    expect(answers.filter(({ error }) => error !== undefined)).toHaveLength(20 - mcpLimits.callsAtOnce)
    await send(batch(90, 'tools/list'), headers, limited)
    expect((await send(batch(2, 'tools/list'), headers, limited)).status).toBe(429)
  })

  it('[MCP-12] ends a session after a revocation of its token, with its stream', async () => {
    const mcp = await connect(await agentToken(server, 'revoked'))
    const closed = new Promise<void>((resolve) => {
      Object.assign(mcp.client, { onerror: () => resolve() })
    })
    await mcp.client.ping()
    dataOf(await server.post('/v2/auth/revoke_tokens', { userId: 'revoked' }))
    await closed
    await expect(mcp.client.ping()).rejects.toThrow(/agent\/invalid-token/)
  })

  it('[MCP-12] ends a session with its token, and one that was not used for 30 minutes', async () => {
    const clock = new HeldClock(Math.floor(Date.now() / 1000) * 1000)
    const held = await startTestServer({}, { clock })
    onTestFinished(() => held.stop())
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }
    const start = async (token: string) => {
      const answer = await send(initialize('2025-11-25'), bearer(token), held)
      return { ...bearer(token), 'mcp-session-id': String(answer.headers.get('mcp-session-id')) }
    }
    const short = await start(await agentToken(held, 'short', { expiresInSeconds: 60 }))
    const idle = await start(await agentToken(held, 'idle', { expiresInSeconds: 86_000 }))
    clock.advance(30_000)
    expect((await send(ping, short, held)).status).toBe(200)
    clock.advance(31_000)
    const expired = await send(ping, short, held)
    expect([expired.status, codeOf(expired)]).toEqual([401, 'agent/invalid-token'])
    const renewed = { ...short, ...bearer(await agentToken(held, 'short')) }
    expect((await send(ping, renewed, held)).status).toBe(404)
    clock.advance(20 * 60_000)
    expect((await send(ping, idle, held)).status).toBe(200)
    for (let minute = 0; minute < 32; minute++) clock.advance(60_000)
    expect((await send(ping, idle, held)).status).toBe(404)
  })

  it('[MCP-12] ends the streams of sessions when the server stops', async () => {
    const stopping = await startTestServer({ shutdownSeconds: 600 })
    const mcp = await connectMcp(stopping.url, await agentToken(stopping, 'bot'))
    // A shutdown that waited for the streams would take longer than a test may.
    await stopping.stop()
    await mcp.client.close()
  })

  it('[MCP-13] ends a canceled call without a response, and takes no further step', async () => {
    const engine = holdable(await openMemoryEngine())
    const slow = await startTestServer({ callsPerAgent: unlimited }, { engine })
    onTestFinished(() => slow.stop())
    await addReport(slow, 'report')
    const token = await agentToken(slow, 'canceler')
    const begun = await send(initialize('2025-11-25'), bearer(token), slow)
    const headers = { ...bearer(token), 'mcp-session-id': String(begun.headers.get('mcp-session-id')) }
    const edits = [{ remove: { target: 'monday' } }]
    const call = (id: number, name: string) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name, arguments: { documentId: 'report', edits } },
    })
    const address = { organizationId: 'acme', documentId: 'report', editorId: 'main' }
    engine.hold()
    // The first step of the tool reads the document, and waits until this edit is durable.
    const edit = slow.post('/v2/crdt/edit', {
      ...address,
      edits: [{ insert: { at: 'end', content: 'More.' } }],
    })
    await eventually(() => engine.waiting() > 0)
    const running = send(call(7, 'suggest'), headers, slow)
    await new Promise((resolve) => setTimeout(resolve, 300))
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }
    expect((await send(cancel, headers, slow)).status).toBe(202)
    expect((await running).text).toBe('')
    engine.release()
    dataOf(await edit)
    // The session can be used as before.
    const [next] = messagesOf(await send(call(8, 'edit_document'), headers, slow))
    expect(next?.result).toMatchObject({ structuredContent: { changed: true } })
    expect(dataOf(await slow.post('/v2/crdt/branches/list', address))).toEqual([])
  })

  it.each([
    ['the whole branch if its edits fit', 'monday', 1],
    ['no branch if its edits do not fit', 'not there', 0],
  ])('[MCP-25] a canceled call of suggest leaves %s', async (_name, quote, count) => {
    const engine = holdable(await openMemoryEngine())
    const slow = await startTestServer({ callsPerAgent: unlimited }, { engine })
    onTestFinished(() => slow.stop())
    await addReport(slow, 'report')
    const token = await agentToken(slow, 'canceler')
    const begun = await send(initialize('2025-11-25'), bearer(token), slow)
    const headers = { ...bearer(token), 'mcp-session-id': String(begun.headers.get('mcp-session-id')) }
    const edits = [{ remove: { target: quote } }]
    const params = { name: 'suggest', arguments: { documentId: 'report', edits } }
    engine.hold()
    const running = send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params }, headers, slow)
    // The branch is being created.
    await eventually(() => engine.waiting() > 0)
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }
    expect((await send(cancel, headers, slow)).status).toBe(202)
    expect((await running).text).toBe('')
    engine.release()
    const address = { organizationId: 'acme', documentId: 'report', editorId: 'main' }
    const branches = async () =>
      dataOf(await slow.post('/v2/crdt/branches/list', address)) as readonly { name: string }[]
    const hunks = async () => {
      const found = await branches()
      const diffs = found.map(({ name }) => slow.post('/v2/crdt/branches/diff', { ...address, name }))
      return (await Promise.all(diffs)).map((diff) => (dataOf(diff) as { hunks: object[] }).hunks.length)
    }
    await eventually(async () => (await hunks()).join() === Array(count).fill(1).join())
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(await hunks()).toEqual(Array(count).fill(1))
  })

  it('[MCP-14] runs at most 8 tool calls of one agent at the same time', async () => {
    const engine = holdable(await openMemoryEngine())
    const slow = await startTestServer({ callsPerAgent: unlimited }, { engine })
    onTestFinished(() => slow.stop())
    await addReport(slow, 'report')
    const token = await agentToken(slow, 'busy')
    const clients = await Promise.all([connect(token, slow), connect(token, slow)])
    const other = await connect(await agentToken(slow, 'other'), slow)
    engine.hold()
    const address = { organizationId: 'acme', documentId: 'report', editorId: 'main' }
    const edit = slow.post('/v2/crdt/edit', {
      ...address,
      edits: [{ insert: { at: 'end', content: 'More.' } }],
    })
    await eventually(() => engine.waiting() > 0)
    const read = (mcp: McpTestClient) => mcp.call('read_document', { documentId: 'report' })
    const running = Array.from({ length: mcpLimits.callsAtOnce }, (_, index) =>
      read(clients[index % 2] as McpTestClient),
    )
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(errorCodeOf(await read(clients[0]))).toBe('mcp/too-many-calls')
    const others = read(other)
    engine.release()
    dataOf(await edit)
    for (const result of await Promise.all([...running, others])) expect(errorCodeOf(result)).toBeUndefined()
    expect(errorCodeOf(await read(clients[0]))).toBeUndefined()
  })

  it('[MCP-15] distinguishes errors of the protocol from errors of tools', async () => {
    const token = await agentToken(server, 'errors')
    const headers = await begin(token)
    const errorOf = async (message: unknown): Promise<readonly [number, number | undefined]> => {
      const answer = await send(message, headers)
      return [answer.status, messagesOf(answer)[0]?.error?.code]
    }
    const call = (params: object, method = 'tools/call') => ({ jsonrpc: '2.0', id: 3, method, params })
    expect(await errorOf(call({ name: 'drop_database' }))).toEqual([200, -32_602])
    expect(await errorOf(call({}, 'no/such/method'))).toEqual([200, -32_601])
    expect(await errorOf(call({ uri: 'file:///etc/passwd' }, 'resources/read'))).toEqual([200, -32_602])
    expect(await errorOf(call({ uri: 'weft://acme/none/main' }, 'resources/read'))).toEqual([200, -32_002])
    expect(await errorOf({ id: 3 })).toEqual([400, -32_700])
    expect(codeOf(await send('{"jsonrpc":', headers))).toBe('request/invalid-json')
    expect(codeOf(await send('{}', { ...headers, 'content-type': 'text/plain' }))).toBe(
      'request/content-type',
    )
    expect((await send(call({}), { ...headers, accept: 'text/html' })).status).toBe(406)
    const mcp = await connect(token)
    const result = await mcp.call('read_document', { documentId: 'none' })
    expect(result.isError).toBe(true)
    expect(JSON.parse(String(result.content[0]?.type === 'text' && result.content[0].text))).toMatchObject({
      error: { code: 'document/not-found', status: 'NOT_FOUND', remedy: expect.stringMatching(/\.$/) },
    })
  })

  it('[MCP-15] limits the size of messages, and the calls of an agent', async () => {
    const limited = await startTestServer({
      maxBodyBytes: 100_000,
      callsPerAgent: { perSecond: 1, burst: 12 },
    })
    onTestFinished(() => limited.stop())
    await addReport(limited, 'report')
    const token = await agentToken(limited, 'bot')
    const large = await send(`{"x":"${'a'.repeat(200_000)}"}`, bearer(token), limited)
    expect([large.status, codeOf(large)]).toEqual([413, 'request/body-too-large'])
    const mcp = await connect(token, limited)
    const results = []
    for (let count = 0; count < 12; count++)
      results.push(
        await mcp.call('read_document', { documentId: 'report' }).catch((error: Error) => error.message),
      )
    expect(JSON.stringify(results)).toContain('limit/exceeded')
  })
})

describe('streams of notifications', () => {
  it('[MCP-31] sends one notification for the changes of a second, and none without a subscription', async () => {
    await addReport(server, 'watched')
    await addReport(server, 'unwatched')
    const mcp = await connect(await agentToken(server, 'watcher'))
    const uri = 'weft://acme/watched/main'
    const seen: { readonly uri: string; readonly at: number }[] = []
    mcp.client.fallbackNotificationHandler = ({ method, params }) => {
      if (method === 'notifications/resources/updated')
        seen.push({ uri: String(params?.uri), at: performance.now() })
      return Promise.resolve()
    }
    await mcp.client.subscribeResource({ uri })
    const edit = (documentId: string) =>
      server.post('/v2/crdt/edit', {
        organizationId: 'acme',
        documentId,
        editorId: 'main',
        edits: [{ insert: { at: 'end', content: 'More.' } }],
      })
    for (let count = 0; count < 5; count++) dataOf(await edit('watched'))
    dataOf(await edit('unwatched'))
    await eventually(() => seen.length === 1)
    dataOf(await edit('watched'))
    await eventually(() => seen.length === 2)
    expect(new Set(seen.map((each) => each.uri))).toEqual(new Set([uri]))
    expect((seen[1]?.at ?? 0) - (seen[0]?.at ?? 0)).toBeGreaterThan(900)
    await mcp.client.unsubscribeResource({ uri })
    dataOf(await edit('watched'))
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(seen).toHaveLength(2)
  })

  it('[MCP-31] reports the changes of another node', async () => {
    const cluster = await startCluster(2)
    onTestFinished(() => cluster.stop())
    const [one, two] = cluster.servers as [TestServer, TestServer]
    await addReport(one, 'shared')
    const mcp = await connect(await agentToken(one, 'watcher'), one)
    const updated = new Promise<unknown>((resolve) => {
      mcp.client.fallbackNotificationHandler = ({ params }) => Promise.resolve(resolve(params?.uri))
    })
    await mcp.client.subscribeResource({ uri: 'weft://acme/shared/main' })
    const edits = [{ insert: { at: 'end', content: 'More.' } }]
    const address = { organizationId: 'acme', documentId: 'shared', editorId: 'main' }
    dataOf(await two.post('/v2/crdt/edit', { ...address, edits }))
    expect(await updated).toBe('weft://acme/shared/main')
  })

  it('[MCP-31] permits a bounded number of subscriptions in a session', async () => {
    for (let number = 0; number <= mcpLimits.subscriptions; number++)
      await addReport(server, `many-${number}`)
    const mcp = await connect(await agentToken(server, 'subscriber'))
    for (let number = 0; number < mcpLimits.subscriptions; number++)
      await mcp.client.subscribeResource({ uri: `weft://acme/many-${number}/main` })
    await expect(
      mcp.client.subscribeResource({ uri: `weft://acme/many-${mcpLimits.subscriptions}/main` }),
    ).rejects.toThrow('subscriptions')
    await mcp.client.unsubscribeResource({ uri: 'weft://acme/many-0/main' })
    await mcp.client.subscribeResource({ uri: `weft://acme/many-${mcpLimits.subscriptions}/main` })
  })

  it('[MCP-32] ends a subscription when the agent loses the right to read', async () => {
    await addReport(server, 'lost')
    const access = (accessType: string) =>
      server.post('/v2/organizations/documents/update', {
        organizationId: 'acme',
        documents: [{ documentId: 'lost', accessType }],
      })
    const mcp = await connect(await agentToken(server, 'loser'))
    let seen = 0
    mcp.client.fallbackNotificationHandler = () => {
      seen += 1
      return Promise.resolve()
    }
    const uri = 'weft://acme/lost/main'
    await mcp.client.subscribeResource({ uri })
    dataOf(await access('restricted'))
    const edit = {
      organizationId: 'acme',
      documentId: 'lost',
      editorId: 'main',
      edits: [{ insert: { at: 'end', content: 'Secret.' } }],
    }
    dataOf(await server.post('/v2/crdt/edit', edit))
    await eventually(() => seen === 1)
    await expect(mcp.client.readResource({ uri })).rejects.toThrow('document')
    dataOf(await server.post('/v2/crdt/edit', edit))
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(seen).toBe(1)
  })

  it('[MCP-77] ends a subscription at the first change after the end of a timed grant', async () => {
    let offsetMs = 0
    const clock = { ...systemClock, now: () => systemClock.now() + offsetMs }
    const timed = await startTestServer({}, { clock })
    onTestFinished(() => timed.stop())
    await addReport(timed, 'timed')
    const expiresAt = Math.floor(clock.now() / 1000) + 3_600
    const grant = { type: 'document', id: 'timed', organizationId: 'acme', accessRole: 'viewer', expiresAt }
    const mcp = await connect(await agentToken(timed, 'timed', { resources: [grant] }), timed)
    const uri = 'weft://acme/timed/main'
    await mcp.client.subscribeResource({ uri })
    const edit = {
      organizationId: 'acme',
      documentId: 'timed',
      editorId: 'main',
      edits: [{ insert: { at: 'end', content: 'Secret.' } }],
    }
    expect(await metric(timed, 'weft_mcp_subscriptions')).toBe(1)
    offsetMs = 3_601_000
    dataOf(await timed.post('/v2/crdt/edit', edit))
    await eventually(async () => (await metric(timed, 'weft_mcp_subscriptions')) === 0)
    await expect(mcp.client.readResource({ uri })).rejects.toThrow('document')
  })

  it('[MCP-76] keeps a subscription if a limit rejects the check of the right to read', async () => {
    const limited = await startTestServer({ callsPerAgent: { perSecond: 0.2, burst: 20 } })
    onTestFinished(() => limited.stop())
    await addReport(limited, 'kept')
    const token = await agentToken(limited, 'keeper')
    const mcp = await connect(token, limited)
    let seen = 0
    mcp.client.fallbackNotificationHandler = () => {
      seen += 1
      return Promise.resolve()
    }
    await mcp.client.subscribeResource({ uri: 'weft://acme/kept/main' })
    const document = { documentId: 'kept', accessType: 'public' }
    dataOf(
      await limited.post('/v2/organizations/documents/update', {
        organizationId: 'acme',
        documents: [document],
      }),
    )
    let isLimited = false
    while (!isLimited) isLimited = (await send({}, bearer(token), limited)).status === 429
    const edit = () =>
      limited.post('/v2/crdt/edit', {
        organizationId: 'acme',
        documentId: 'kept',
        editorId: 'main',
        edits: [{ insert: { at: 'end', content: 'More.' } }],
      })
    dataOf(await edit())
    await eventually(() => seen === 1)
    dataOf(await edit())
    await eventually(() => seen === 2)
  })

  it('[MCP-30] reads a resource within the limit of one page, between two lines with a boundary', async () => {
    const odd = 'a/b %2F 😀'
    await addReport(server, odd, `# Long\n\n${'Some text. '.repeat(20_000)}`)
    const mcp = await connect(await agentToken(server, 'reader'))
    const uri = `weft://acme/${encodeURIComponent(odd)}/main`
    const [content] = (await mcp.client.readResource({ uri })).contents
    const text = String(content !== undefined && 'text' in content && content.text)
    expect(text.length).toBeLessThan(mcpLimits.pageCharacters.max + 200)
    expect(text).toMatch(
      /^----- begin document data ([0-9a-f]{24}) -----\n# Long\n[\s\S]*\n----- end document data \1 -----$/,
    )
    expect(content?._meta).toMatchObject({ 'weft/to': mcpLimits.pageCharacters.max })
    expect((await mcp.client.listResourceTemplates()).resourceTemplates).toHaveLength(1)
  })

  it('[MCP-12] keeps one notification for each resource while a client does not read', async () => {
    await addReport(server, 'slow')
    const token = await agentToken(server, 'slow')
    const headers = await begin(token)
    const subscribe = {
      jsonrpc: '2.0',
      id: 2,
      method: 'resources/subscribe',
      params: { uri: 'weft://acme/slow/main' },
    }
    expect(messagesOf(await send(subscribe, headers))[0]?.result).toEqual({})
    const edit = async () =>
      dataOf(
        await server.post('/v2/crdt/edit', {
          organizationId: 'acme',
          documentId: 'slow',
          editorId: 'main',
          edits: [{ insert: { at: 'end', content: 'More.' } }],
        }),
      )
    // Each wait ends one second of changes, so a notification becomes due.
    for (let second = 0; second < 2; second++) {
      for (let count = 0; count < 3; count++) await edit()
      await new Promise((resolve) => setTimeout(resolve, mcpLimits.notificationMs + 200))
    }
    // The notification has waited for the stream.
    const get = httpRequest(`${server.url}/mcp`, {
      headers: { ...headers, accept: 'text/event-stream' },
    }).end()
    const [response] = await once(get, 'response')
    let received = ''
    response.on('data', (chunk: Buffer) => {
      received += String(chunk)
    })
    const updated = () => received.match(/notifications\/resources\/updated/g)?.length ?? 0
    await eventually(() => updated() > 0)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(updated()).toBe(1)
    await edit()
    await eventually(() => updated() === 2)
    get.destroy()
  })
})
