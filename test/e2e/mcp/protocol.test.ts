import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { mcpLimits } from '../../../src/capabilities/agents/mcp-limits.ts'
import { unlimited } from '../../../src/core/config/option-parsers.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
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
import { holdable } from '../../support/stores/pausable-engine.ts'

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
  signal: AbortSignal | null = null,
): Promise<RawAnswer> {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...headers,
    },
    body: typeof message === 'string' ? message : JSON.stringify(message),
    signal,
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

/** Returns the JSON-RPC messages of a response. */
const messagesOf = ({
  text,
}: RawAnswer): readonly {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number }
}[] => [JSON.parse(text)].flat()

/** Returns the number of requests that have ended, also those that a client has ended. */
const endedRequests = (of: TestServer): Promise<number> =>
  metric(of, 'weft_http_request_duration_seconds_count{route="/mcp"')

const codeOf = ({ text }: RawAnswer): unknown =>
  (JSON.parse(text) as { error: { details: { code: string } } }).error.details.code

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
    expect((await from('http://evil.example.com')).status).toBe(401)
  })
})

describe('the protocol', () => {
  it('[MCP-10] speaks the version of the client, and its latest version to clients with an unknown one', async () => {
    const token = await agentToken(server, 'versions')
    for (const version of ['2025-11-25', '2025-06-18', '2025-03-26']) {
      const [answer] = messagesOf(await send(initialize(version), bearer(token)))
      expect(answer?.result).toMatchObject({ protocolVersion: version, serverInfo: { name: 'weft' } })
      const headers = { ...bearer(token), 'mcp-protocol-version': version }
      const [listed] = messagesOf(await send({ jsonrpc: '2.0', id: 2, method: 'tools/list' }, headers))
      expect(listed?.result).toMatchObject({ tools: expect.any(Array) })
    }
    const [other] = messagesOf(await send(initialize('2031-01-01'), bearer(token)))
    expect(other?.result).toMatchObject({ protocolVersion: '2025-11-25' })
    const headers = { ...bearer(token), 'mcp-protocol-version': '1999-01-01' }
    expect((await send({ jsonrpc: '2.0', id: 2, method: 'ping' }, headers)).status).toBe(400)
  })

  it('[MCP-11] answers each request by itself, on any node, and has no sessions and no streams', async () => {
    const cluster = await startCluster(2)
    onTestFinished(() => cluster.stop())
    const [one, two] = cluster.servers as [TestServer, TestServer]
    await addReport(one, 'report')
    const token = await agentToken(one, 'bot')
    const begun = await send(initialize('2025-11-25'), bearer(token), one)
    expect([begun.status, begun.headers.get('mcp-session-id')]).toEqual([200, null])
    const params = { name: 'read_document', arguments: { documentId: 'report' } }
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    for (const node of [two, one]) {
      const [answer] = messagesOf(await send(call, bearer(token), node))
      expect(answer?.result).toMatchObject({ structuredContent: { format: 'markdown' } })
    }
    for (const method of ['GET', 'DELETE']) {
      const answer = await fetch(`${one.url}/mcp`, {
        method,
        headers: { ...bearer(token), accept: 'text/event-stream', 'mcp-session-id': 'earlier' },
      })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
      await answer.text()
    }
  })

  it('[MCP-64] limits the messages of a batch', async () => {
    const limited = await startTestServer({ callsPerAgent: { perSecond: 1, burst: 60 } })
    onTestFinished(() => limited.stop())
    const headers = bearer(await agentToken(limited, 'batch'))
    const batch = (size: number) =>
      Array.from({ length: size }, (_, id) => ({ jsonrpc: '2.0', id: 10 + id, method: 'tools/list' }))
    await send(batch(90), headers, limited)
    expect((await send(batch(2), headers, limited)).status).toBe(429)
  })

  it('[MCP-13] takes no further step after the client has ended the request of a call', async () => {
    const engine = holdable(await openMemoryEngine())
    const slow = await startTestServer({ callsPerAgent: unlimited }, { engine })
    onTestFinished(() => slow.stop())
    await addReport(slow, 'report')
    const token = await agentToken(slow, 'canceler')
    const headers = bearer(token)
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
    const leaving = new AbortController()
    const running = send(call(7, 'suggest'), headers, slow, leaving.signal)
    await new Promise((resolve) => setTimeout(resolve, 300))
    leaving.abort()
    await expect(running).rejects.toThrow('aborted')
    await eventually(async () => (await endedRequests(slow)) === 1)
    engine.release()
    dataOf(await edit)
    const [next] = messagesOf(await send(call(8, 'edit_document'), headers, slow))
    expect(next?.result).toMatchObject({ structuredContent: { changed: true } })
    expect(dataOf(await slow.post('/v2/crdt/branches/list', address))).toEqual([])
  })

  it('[MCP-13] answers a call beside a notification that cancels it', async () => {
    const params = { name: 'read_document', arguments: { documentId: 'report' } }
    const messages = [
      { jsonrpc: '2.0', id: 7, method: 'tools/call', params },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } },
    ]
    const [answer] = messagesOf(await send(messages, bearer(await agentToken(server, 'canceler'))))
    expect(answer).toMatchObject({ id: 7, result: { structuredContent: { format: 'markdown' } } })
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
    const headers = bearer(token)
    const edits = [{ remove: { target: quote } }]
    const params = { name: 'suggest', arguments: { documentId: 'report', edits } }
    engine.hold()
    const leaving = new AbortController()
    const message = { jsonrpc: '2.0', id: 7, method: 'tools/call', params }
    const running = send(message, headers, slow, leaving.signal)
    // The branch is being created.
    await eventually(() => engine.waiting() > 0)
    leaving.abort()
    await expect(running).rejects.toThrow('aborted')
    await eventually(async () => (await endedRequests(slow)) === 1)
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
    const calls = Array.from({ length: mcpLimits.callsAtOnce + 1 }, (_, index) =>
      read(clients[index % 2] as McpTestClient),
    )
    // The store holds the calls that run, so only a rejected call returns.
    expect(errorCodeOf(await Promise.race(calls))).toBe('mcp/too-many-calls')
    const others = read(other)
    engine.release()
    dataOf(await edit)
    const codes = (await Promise.all([...calls, others])).map(errorCodeOf)
    expect(codes.filter((code) => code !== undefined)).toEqual(['mcp/too-many-calls'])
    expect(errorCodeOf(await read(clients[0]))).toBeUndefined()
  })

  it('[MCP-15] distinguishes errors of the protocol from errors of tools', async () => {
    const token = await agentToken(server, 'errors')
    const headers = bearer(token)
    const errorOf = async (message: unknown): Promise<readonly [number, number | undefined]> => {
      const answer = await send(message, headers)
      return [answer.status, messagesOf(answer)[0]?.error?.code]
    }
    const call = (params: object, method = 'tools/call') => ({ jsonrpc: '2.0', id: 3, method, params })
    expect(await errorOf(call({ name: 'drop_database' }))).toEqual([200, -32_602])
    expect(await errorOf(call({}, 'no/such/method'))).toEqual([200, -32_601])
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
