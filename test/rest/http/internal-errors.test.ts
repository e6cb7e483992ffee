import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { AccessChangeFeed } from '../../../src/core/access/access-change-feed.ts'
import { AgentAccess } from '../../../src/core/access/agents/agent-access.ts'
import { AllowedOrigins } from '../../../src/core/access/allowed-origins.ts'
import { Authenticator } from '../../../src/core/access/credentials/authenticator.ts'
import type { RealtimeAccess } from '../../../src/core/access/realtime-access.ts'
import { createAudit } from '../../../src/core/audit/audit.ts'
import { RecentRequests } from '../../../src/core/audit/recent-requests.ts'
import { systemClock } from '../../../src/core/base/clock.ts'
import { DomainService } from '../../../src/core/directory/tenants/domain-service.ts'
import { TenantStore } from '../../../src/core/directory/tenants/tenant-store.ts'
import { uncounted } from '../../../src/core/directory/usage-counts.ts'
import { Forwarder } from '../../../src/core/forwarding/forwarder.ts'
import { CallDurations } from '../../../src/core/metrics/call-durations.ts'
import { createMetrics } from '../../../src/core/metrics/metrics.ts'
import { LimitReports } from '../../../src/core/quota/limit-reports.ts'
import { SlowTransfers } from '../../../src/core/quota/slow-transfers.ts'
import { TickShares } from '../../../src/core/quota/tick-shares.ts'
import { WorkTurns } from '../../../src/core/quota/work-turns.ts'
import { CorruptRecordError, StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { CallAuditor } from '../../../src/rest/http/call-auditor.ts'
import { HttpListener } from '../../../src/rest/http/http-listener.ts'
import type { Edge } from '../../../src/rest/http/operation-steps.ts'
import { createRest } from '../../../src/rest/http/rest.ts'
import { IdempotencyService } from '../../../src/rest/idempotency/idempotency-service.ts'
import { defineOperation } from '../../../src/rest/operation.ts'
import type { Services } from '../../../src/rest/services.ts'
import { eventually } from '../../support/clients/clients.ts'
import { roomyAccounts } from '../../support/servers/memory.ts'
import type { Envelope } from '../../support/servers/server.ts'

const faults: Readonly<Record<string, unknown>> = {
  bug: new TypeError('a secret detail'),
  text: 'a secret text',
  away: new StoreUnavailableError('disk of a secret name'),
  damaged: new CorruptRecordError('a secret document'),
}

/** An operation whose handler fails as requested. */
const fail = defineOperation({
  path: '/v2/test/fail',
  auth: 'key',
  effect: 'reads',
  audited: 'change',
  summary: '',
  description: '',
  request: { type: 'object', required: ['how'], properties: { how: { type: 'string' } } },
  response: {},
  errors: [],
  handler: ({ how }) => Promise.reject(faults[how] as Error),
})

let logged: string[] = []
const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) })
const http = createServer()
beforeEach(() => {
  logged = []
})

beforeAll(async () => {
  const engine = await openMemoryEngine()
  const { kv, bus } = engine
  const tenants = new TenantStore(kv)
  const news = new AccessChangeFeed(engine)
  const origins = new AllowedOrigins(new DomainService(tenants, bus), news, systemClock, 'http://localhost')
  const authenticator = new Authenticator({
    tenants,
    origins,
    clock: systemClock,
    adminToken: null,
    defaultTenant: { workspaceId: 'ws', apiKey: 'key' },
    onRefusal: () => {},
  })
  const metrics = createMetrics()
  const clock = systemClock
  // The calls of this test have no bearer token.
  const agents = new AgentAccess({} as RealtimeAccess, clock, () => {})
  const reports = new LimitReports({ clock, log, metrics })
  const recent = new RecentRequests(tenants, clock, { workspaceId: 'ws', apiKey: 'key' })
  const config = {
    audit: 'off',
    auth: 'required',
    maxBodyBytes: 1000,
    trustProxy: 0,
    unknownMembers: 'reject',
  }
  const auditing = createAudit({ kv, tenants, clock, log, keepMs: 1 })
  const services = {
    agents,
    auditing,
    config,
    forwarder: new Forwarder({ cluster: engine.cluster, clock, metrics }, 'secret', null),
    log,
    metrics,
    origins,
    recent,
    spans: null,
  } as unknown as Services
  const edge: Edge = {
    services,
    slowCalls: new CallDurations(clock),
    authenticator,
    auditor: new CallAuditor(services, () => {}),
    quotas: {
      addressCalls: null,
      calls: null,
      agentCalls: null,
      workspaceCalls: { ready: () => Promise.resolve(), take: () => {}, charge: () => {}, waitMs: () => 0 },
      bodies: null,
      bodyMemory: roomyAccounts().requestBodies,
      bodyTurns: new WorkTurns(),
      unread: {
        holder: roomyAccounts().unreadResponses,
        transfers: new SlowTransfers(60_000),
        tooSlow: () => {},
      },
      proxies: 0,
      reports,
      usage: uncounted,
    },
    idempotentCalls: new IdempotencyService({ engine, clock, log, metrics }, ['secret'], 1000),
    readiness: () => ({ ok: true }),
    handle: () => {},
  }
  const router = createRest(edge, { operations: [fail], pages: [], served: [] })
  http.on('request', new HttpListener(router, () => false, new TickShares()).handle)
  await new Promise<void>((resolve) => {
    http.listen(0, '127.0.0.1', resolve)
  })
})
afterAll(() => http.close())

async function provoke(how: string) {
  const { port } = http.address() as AddressInfo
  const response = await fetch(`http://127.0.0.1:${port}/v2/test/fail?token=in-the-query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-id': 'request-1', 'x-service-auth-token': '' },
    body: JSON.stringify({ data: { how } }),
  })
  return { status: response.status, body: (await response.json()) as Envelope }
}

const errors = () => logged.filter((line) => (JSON.parse(line) as { level: number }).level >= 50)

it.each(['bug', 'text'])(
  '[API-15] returns INTERNAL with the request id for an internal fault (%s), and logs the cause once',
  async (how) => {
    expect(await provoke(how)).toEqual({
      status: 500,
      body: {
        error: {
          status: 'INTERNAL',
          message: 'internal error; request id request-1',
          details: { code: 'server/internal' },
        },
      },
    })
    expect(errors()).toHaveLength(1)
    expect(errors()[0]).toContain('a secret')
    expect(JSON.parse(errors()[0] ?? '')).toMatchObject({ requestId: 'request-1', route: '/v2/test/fail' })
  },
)

it('[API-16] returns UNAVAILABLE if the store is unavailable, and INTERNAL if a document is damaged, both without details', async () => {
  const away = await provoke('away')
  expect(away).toMatchObject({ status: 503, body: { error: { status: 'UNAVAILABLE' } } })
  expect(errors()).toEqual([])
  const damaged = await provoke('damaged')
  expect(damaged).toMatchObject({ status: 500, body: { error: { status: 'INTERNAL' } } })
  expect(errors()).toHaveLength(1)
  expect(JSON.stringify([away, damaged])).not.toContain('secret')
})

it('[API-17] never logs query strings', async () => {
  await provoke('bug')
  expect(logged.length).toBeGreaterThan(1)
  expect(logged.join('')).not.toContain('in-the-query')
})

it('[API-8] logs the request id in the log line of the request', async () => {
  await provoke('bug')
  const lines = () => logged.map((line) => JSON.parse(line) as { msg: string; requestId?: string })
  await eventually(() => lines().some(({ msg }) => msg === 'request'))
  const [request] = lines().filter(({ msg }) => msg === 'request')
  expect(request).toMatchObject({ requestId: 'request-1', route: '/v2/test/fail', status: 500 })
})
