import { afterEach, expect, it } from 'vitest'
import { PageTokens } from '../../../src/api/paging/page-tokens.ts'
import { createLog } from '../../../src/log.ts'
import { mcpLimits } from '../../../src/mcp/mcp-limits.ts'
import type { AgentRequest, McpSession } from '../../../src/mcp/mcp-session.ts'
import { McpSessionRegistry } from '../../../src/mcp/session-registry.ts'
import { createMetrics } from '../../../src/metrics.ts'
import { HeldClock } from '../../support/time/clock.ts'

const dayMs = 86_400_000
const clock = new HeldClock()
const unused = () => Promise.reject(new Error('these sessions have no requests'))
const options = {
  handle: unused,
  pageTokens: new PageTokens('a secret of the server'),
  access: { refusalOf: () => Promise.resolve(null), onWithdrawal: () => () => {}, onChange: () => () => {} },
  agents: { require: unused },
  rooms: { open: unused, answerText: unused },
  clock,
  metrics: createMetrics(),
  log: createLog('silent'),
  onRejectedTool: unused,
}

let registry: McpSessionRegistry
afterEach(() => registry.endAll())

/** A request of an agent whose token is valid for some time. */
function requestOf(userId: string, apiKey: string, validMs = dayMs): AgentRequest {
  const tenant = { workspaceId: 'workspace', apiKey }
  const agent = { model: null, onBehalfOf: null, policies: [] }
  const times = { issuedAt: clock.now(), expiresAt: clock.now() + validMs }
  const identity = { tenant, userId, name: userId, email: '', admin: false, grants: null, agent, ...times }
  return { caller: { level: 'agent', tenant, identity, origin: undefined }, token: '', address: '' }
}

const isOpen = (session: McpSession): boolean => registry.find(session.id, session.caller) === session

it('[MCP-12] ends a session in use with its token, also if the token is valid for longer than a timer can wait', async () => {
  registry = new McpSessionRegistry(options)
  const request = requestOf('bot', 'key', 60 * dayMs)
  const session = await registry.begin(request)
  registry.use(session, request)
  const pending: number[] = []
  for (let day = 0; day < 59; day++) {
    clock.advance(dayMs)
    pending.push(clock.pending)
  }
  expect([Math.min(...pending), Math.max(...pending), isOpen(session)]).toEqual([2, 2, true])
  clock.advance(dayMs)
  expect([isOpen(session), registry.size]).toEqual([false, 0])
})

/** Begins sessions of different agents of an API key, and keeps them. */
async function fill(count: number, apiKey: string): Promise<readonly McpSession[]> {
  const sessions: McpSession[] = []
  for (let number = 0; number < count; number++)
    sessions.push(await start(requestOf(`${apiKey}-${Math.floor(number / 10)}`, apiKey)))
  return sessions
}

/** Begins a session as the route does: it is in use until it is kept. */
async function start(request: AgentRequest): Promise<McpSession> {
  const session = await registry.begin(request)
  const endUse = registry.use(session, request)
  await registry.keep(session)
  endUse()
  return session
}

/** Begins a use of a session. Returns the function that ends the use. */
const hold = (session: McpSession): (() => void) =>
  registry.use(session, { caller: session.caller, token: '', address: '' })

it('[MCP-63] ends the idle session of the API key that was not used for the longest time', async () => {
  registry = new McpSessionRegistry(options)
  const [oldest, inUse, used, next, ...others] = await fill(mcpLimits.sessionsPerKey, 'full')
  const [other] = await fill(1, 'other')
  if (!oldest || !inUse || !used || !next || !other) throw new Error('there are too few sessions')
  hold(inUse)
  hold(used)()
  const ended: boolean[][] = []
  for (const userId of ['new-1', 'new-2']) {
    await start(requestOf(userId, 'full'))
    ended.push([oldest, next, inUse, used, other].map((session) => !isOpen(session)))
  }
  expect(ended).toEqual([
    [true, false, false, false, false],
    [true, true, false, false, false],
  ])
  expect(others.every(isOpen)).toBe(true)
  expect(registry.size).toBe(mcpLimits.sessionsPerKey + 1)
})

it('[MCP-63] rejects a session if all of the API key are in use, but not one of another API key', async () => {
  registry = new McpSessionRegistry(options)
  const sessions = await fill(mcpLimits.sessionsPerKey, 'busy')
  const ends = sessions.map(hold)
  await expect(registry.begin(requestOf('new', 'busy'))).rejects.toMatchObject({
    code: 'limit/exceeded',
    details: { limit: 'mcpSessionsPerKey' },
  })
  expect(registry.size).toBe(mcpLimits.sessionsPerKey)
  expect(isOpen(await start(requestOf('new', 'other')))).toBe(true)
  ends[7]?.()
  const begun = await start(requestOf('new', 'busy'))
  expect([isOpen(begun), sessions.filter((session) => !isOpen(session))]).toEqual([true, [sessions[7]]])
})

it('[MCP-63] an agent with all of its sessions begins another one in a full API key, at its own expense', async () => {
  registry = new McpSessionRegistry(options)
  const own: McpSession[] = []
  for (let number = 0; number < mcpLimits.sessionsPerAgent; number++)
    own.push(await start(requestOf('own', 'busy')))
  const others = await fill(mcpLimits.sessionsPerKey - own.length, 'busy')
  for (const session of [...own, ...others]) hold(session)
  const begun = await start(requestOf('own', 'busy'))
  expect([isOpen(begun), own.map(isOpen)]).toEqual([true, [false, ...own.slice(1).map(() => true)]])
  expect(others.every(isOpen)).toBe(true)
})

it('[MCP-72] ends an idle session of the API key with the most idle ones if the node is full', async () => {
  registry = new McpSessionRegistry(options)
  const small = await fill(mcpLimits.sessionsPerKey - 1, 'small')
  const keys = ['one', 'two', 'three']
  const large: McpSession[] = []
  for (const key of keys) large.push(...(await fill(mcpLimits.sessionsPerKey, key)))
  const [last] = await fill(1, 'last')
  expect([registry.size, last && isOpen(last)]).toEqual([mcpLimits.sessions, true])
  const begun = await start(requestOf('new', 'newest'))
  expect(small.every(isOpen)).toBe(true)
  expect(large.filter((session) => !isOpen(session))).toEqual([large[0]])

  for (const session of [...small, ...large.slice(1), begun]) hold(session)
  if (last === undefined || !isOpen(last)) throw new Error('no session is idle')
  hold(last)
  await expect(registry.begin(requestOf('rejected', 'newest'))).rejects.toMatchObject({
    code: 'limit/exceeded',
    details: { limit: 'mcpSessions' },
  })
  expect(registry.size).toBe(mcpLimits.sessions)
})
