import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { AccessNews } from '../../src/access/access-news.ts'
import { Authenticator } from '../../src/access/credentials.ts'
import { Origins } from '../../src/access/origins.ts'
import { Auditor } from '../../src/api/auditor.ts'
import { IdempotentCalls } from '../../src/api/idempotency/calls.ts'
import { operation } from '../../src/api/operation.ts'
import { createRouter } from '../../src/api/router.ts'
import type { Services } from '../../src/api/services.ts'
import { createAudit } from '../../src/audit/audit.ts'
import { systemClock } from '../../src/clock.ts'
import { Domains } from '../../src/directory/domains.ts'
import { Tenants } from '../../src/directory/tenants.ts'
import { CorruptRecord, StoreUnavailable } from '../../src/engine/engine.ts'
import { openMemoryEngine } from '../../src/engine/memory/engine.ts'
import { createMetrics } from '../../src/metrics.ts'
import { HeldBytes } from '../../src/quota/held-bytes.ts'
import { LimitReports } from '../../src/quota/reports.ts'
import { eventually } from '../support/clients.ts'
import type { Envelope } from '../support/server.ts'

const faults: Readonly<Record<string, unknown>> = {
  bug: new TypeError('a secret detail'),
  text: 'a secret text',
  away: new StoreUnavailable('disk of a secret name'),
  damaged: new CorruptRecord('a secret document'),
}

/** An operation whose handler fails as it is told to. */
const fail = operation({
  path: '/v2/test/fail',
  auth: 'key',
  effect: 'once',
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
  const { kv, bus, queue } = engine
  const tenants = new Tenants(kv)
  const news = new AccessNews({ engine, clock: systemClock, log })
  const origins = new Origins({
    domains: new Domains(tenants, bus),
    news,
    clock: systemClock,
    own: 'http://localhost',
  })
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
  const reports = new LimitReports({ clock, log, metrics })
  const { audit, refusals } = createAudit({ kv, tenants, clock, log, keepMs: 1 })
  const router = createRouter({
    operations: [fail],
    pages: [],
    services: {} as Services,
    authenticator,
    auditor: new Auditor({ audit, refusals, mode: 'off', proxies: 0 }),
    origins,
    quotas: {
      addressCalls: null,
      calls: null,
      bodies: null,
      held: new HeldBytes({ ofWorkspace: 1_000_000, inAll: 1_000_000 }),
      proxies: 0,
      reports,
    },
    idempotentCalls: new IdempotentCalls({
      kv,
      queue,
      cluster: engine.cluster,
      clock,
      log,
      metrics,
      secrets: ['secret'],
      keepMs: 1000,
    }),
    bodyBytesMax: 1000,
    loopbackOnly: false,
    readiness: () => ({ ok: true }),
    metrics,
    log,
  })
  http.on('request', router)
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
  '[API-15] what is our fault (%s) is INTERNAL with the request id, told to the log alone, once',
  async (how) => {
    expect(await provoke(how)).toEqual({
      status: 500,
      body: { error: { status: 'INTERNAL', message: 'internal error; request id request-1' } },
    })
    expect(errors()).toHaveLength(1)
    expect(errors()[0]).toContain('a secret')
    expect(JSON.parse(errors()[0] ?? '')).toMatchObject({ requestId: 'request-1', route: '/v2/test/fail' })
  },
)

it('[API-16] a store that is away is UNAVAILABLE, a damaged document INTERNAL; neither tells more', async () => {
  const away = await provoke('away')
  expect(away).toMatchObject({ status: 503, body: { error: { status: 'UNAVAILABLE' } } })
  expect(errors()).toEqual([])
  const damaged = await provoke('damaged')
  expect(damaged).toMatchObject({ status: 500, body: { error: { status: 'INTERNAL' } } })
  expect(errors()).toHaveLength(1)
  expect(JSON.stringify([away, damaged])).not.toContain('secret')
})

it('[API-17] queries are never logged', async () => {
  await provoke('bug')
  expect(logged.length).toBeGreaterThan(1)
  expect(logged.join('')).not.toContain('in-the-query')
})

it('[API-8] the line of the log that a request leaves has its id', async () => {
  await provoke('bug')
  const lines = () => logged.map((line) => JSON.parse(line) as { msg: string; requestId?: string })
  await eventually(() => lines().some(({ msg }) => msg === 'request'))
  const [request] = lines().filter(({ msg }) => msg === 'request')
  expect(request).toMatchObject({ requestId: 'request-1', route: '/v2/test/fail', status: 500 })
})
