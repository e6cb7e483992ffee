import { afterEach, expect, it } from 'vitest'
import { PageTokens } from '../../../src/api/paging/page-tokens.ts'
import { createLog } from '../../../src/log.ts'
import type { AgentRequest, McpSession } from '../../../src/mcp/mcp-session.ts'
import { McpSessionRegistry } from '../../../src/mcp/session-registry.ts'
import { HeldClock } from '../../support/time/clock.ts'

const dayMs = 86_400_000
const clock = new HeldClock()
const unused = () => Promise.reject(new Error('these sessions have no requests'))
const options = {
  handle: unused,
  pageTokens: new PageTokens('a secret of the server'),
  access: { refusalOf: () => Promise.resolve(null), onWithdrawal: () => () => {}, onChange: () => () => {} },
  rooms: { open: unused },
  clock,
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
