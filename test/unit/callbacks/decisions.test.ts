import { afterEach, expect, it } from 'vitest'
import { CallbackCaller } from '../../../src/capabilities/callbacks/callback-caller.ts'
import { CallbackDecider } from '../../../src/capabilities/callbacks/callback-decider.ts'
import type { Identity } from '../../../src/core/access/identity.ts'
import type { RoleDecision } from '../../../src/core/access/roles/role-decision.ts'
import { createLog } from '../../../src/core/base/log.ts'
import { createMetrics } from '../../../src/core/metrics/metrics.ts'
import { SessionRole } from '../../../src/core/sync/session/session-role.ts'
import { HookReceiver } from '../../support/clients/webhook-receiver.ts'
import { json } from '../../support/servers/callback-servers.ts'
import { HeldClock } from '../../support/time/clock.ts'
import { loopback } from '../webhooks/attempt-setup.ts'

const tenant = { workspaceId: 'w', apiKey: 'k' }
const address = { ...tenant, organizationId: 'acme', documentId: 'd', editorId: 'main' }

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

const identity: Identity = {
  tenant,
  userId: 'ada',
  name: 'Ada',
  email: '',
  admin: false,
  grants: null,
  agent: null,
  issuedAt: 0,
  expiresAt: Number.POSITIVE_INFINITY,
}

it('[CALL-52] does not return a decision more than a minute after it has expired', async () => {
  const clock = new HeldClock()
  const backend = await HookReceiver.start(json({ role: 'editor', ttlSeconds: 10 }))
  ends.push(() => backend.stop())
  const stopping = new AbortController().signal
  const services = { clock, metrics: createMetrics(), log: createLog('silent') }
  const caller = new CallbackCaller({ ...services, destinations: loopback, stopping, functions: null })
  const callbacks = {
    authorize: { url: backend.url, timeoutMs: 5_000, onFailure: 'reject' },
    load: null,
    store: null,
    createdAt: 0,
    updatedAt: 0,
    secret: 'whsec_AAAA',
    previousSecret: null,
  } as const
  const subscriptions = { callbacksOf: async () => callbacks }
  const decider = new CallbackDecider(caller, subscriptions, clock)
  expect(await decider.decide(identity, address)).toMatchObject({ role: 'editor' })
  clock.advance(69_999)
  expect(decider.known(identity, address)).toMatchObject({ role: 'editor' })
  clock.advance(1)
  expect(decider.known(identity, address)).toBeNull()
})

it('[CALL-53] asks again while an expired decision has not been replaced', () => {
  const clock = new HeldClock()
  const decision: RoleDecision = { kind: 'role', role: 'editor', until: clock.now() + 1_000 }
  const permission = { fence: [], access: {}, branch: null, decision, refusal: null } as never
  const session = { address, recheck: async () => {}, roleChanged: () => {} }
  const role = new SessionRole(session, identity, permission, clock)
  const isDueAfter = (ms: number): boolean => {
    clock.advance(ms)
    return role.isDecisionDue(clock.now())
  }
  expect(isDueAfter(999)).toBe(false)
  expect(isDueAfter(1)).toBe(true)
  expect(isDueAfter(4_999)).toBe(false)
  expect(isDueAfter(1)).toBe(true)
})
