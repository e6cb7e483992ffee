import type { AgentTraits, Identity } from '../../core/access/identity.ts'
import type { RoleDecider, RoleDecision } from '../../core/access/roles/role-decision.ts'
import type { Clock } from '../../core/base/clock.ts'
import * as s from '../../core/base/schema.ts'
import { accessRoles } from '../../core/directory/store/records.ts'
import { addressKey, type DocumentAddress, type Tenant } from '../../core/model/address.ts'
import { readBoundedJson } from '../../core/model/bounded-json.ts'
import { keyName } from '../../core/store/key-encoding.ts'
import type { CallbacksRecord } from '../webhooks/callback-records.ts'
import type { SubscriptionCache } from '../webhooks/subscription-cache.ts'
import type { CallbackCaller } from './callback-caller.ts'
import { decisionsMax, graceMs, repeatMs, ttlSecondsDefault, ttlSecondsMax } from './limits.ts'

const responseSchema = s.object({ role: s.orNull(s.choice(accessRoles)) }, { ttlSeconds: s.atLeast(0) })

/** Maximum memory of the values of a response in bytes, as `measureJson` estimates it. */
const valueBytesMax = 2 ** 20

/**
 * Reads a response of `authorize`.
 * @throws MalformedJsonError if it has the wrong form
 */
function readDecision(body: Uint8Array) {
  const { role, ttlSeconds = ttlSecondsDefault } = readBoundedJson(responseSchema, body, valueBytesMax)
  return { role, ttlSeconds: Math.max(1, Math.min(ttlSeconds, ttlSecondsMax)) }
}

/** A decision of the backend, and the time up to which it applies while the backend cannot be asked. */
interface KeptDecision {
  readonly decision: RoleDecision
  /** The URL that was asked. */
  readonly url: string | undefined
  readonly usableUntil: number
}

/**
 * Asks the callback `authorize` of API keys, and keeps its decisions for the time that the callback has
 * specified. Concurrent questions about the same user and editor share one call.
 */
export class CallbackDecider implements RoleDecider {
  readonly #caller: CallbackCaller
  readonly #subscriptions: Pick<SubscriptionCache, 'callbacksOf'>
  readonly #clock: Clock
  readonly #kept = new Map<string, KeptDecision>()
  readonly #asking = new Map<string, Promise<RoleDecision>>()

  constructor(caller: CallbackCaller, subscriptions: Pick<SubscriptionCache, 'callbacksOf'>, clock: Clock) {
    this.#caller = caller
    this.#subscriptions = subscriptions
    this.#clock = clock
  }

  async decides(tenant: Tenant): Promise<boolean> {
    return (await this.#callbacksOf(tenant)) !== null
  }

  async decide(identity: Identity, address: DocumentAddress): Promise<RoleDecision | null> {
    const callbacks = await this.#callbacksOf(identity.tenant)
    if (callbacks === null) return null
    const { decision, url } = this.#kept.get(nameOf(identity, address)) ?? {}
    const isKept = decision?.kind === 'role' && this.#clock.now() < decision.until
    if (isKept && url === callbacks.authorize?.url) return decision
    return this.#ask(identity, address, callbacks)
  }

  known(identity: Identity, address: DocumentAddress): RoleDecision | null {
    const kept = this.#kept.get(nameOf(identity, address))
    return kept !== undefined && this.#clock.now() < kept.usableUntil ? kept.decision : null
  }

  async renew(identity: Identity, address: DocumentAddress): Promise<void> {
    await this.decide(identity, address).catch(() => null)
  }

  async #callbacksOf(tenant: Tenant): Promise<CallbacksRecord | null> {
    const callbacks = await this.#subscriptions.callbacksOf(tenant)
    return callbacks === null || callbacks.authorize === null ? null : callbacks
  }

  #ask(identity: Identity, address: DocumentAddress, callbacks: CallbacksRecord): Promise<RoleDecision> {
    const name = nameOf(identity, address)
    const asking = this.#asking.get(name)
    if (asking !== undefined) return asking
    const asked = this.#call(name, identity, address, callbacks).finally(() => this.#asking.delete(name))
    this.#asking.set(name, asked)
    return asked
  }

  async #call(
    name: string,
    { tenant, userId, name: userName, email, agent }: Identity,
    address: DocumentAddress,
    callbacks: CallbacksRecord,
  ): Promise<RoleDecision> {
    const { organizationId, documentId, editorId } = address
    const user = { userId, name: userName, email }
    const outcome = await this.#caller.call({
      tenant,
      name: 'authorize',
      callbacks,
      data: { organizationId, documentId, editorId, user, agent: askedAgent(agent) },
      userId,
      subject: name,
      read: async (body) => readDecision(body),
    })
    const now = this.#clock.now()
    if (outcome.kind === 'failed') return this.#whileFailing(name, callbacks, now)
    const { role, ttlSeconds } = outcome.answer
    const until = now + ttlSeconds * 1000
    const decision = { kind: 'role', role, until } as const
    return this.#keep(name, { decision, url: callbacks.authorize?.url, usableUntil: until + graceMs })
  }

  /** Returns the result of a failed call. A role that was decided before still applies for `graceMs`. */
  #whileFailing(name: string, { authorize }: CallbacksRecord, now: number): RoleDecision {
    const until = now + repeatMs
    const kept = this.#kept.get(name)
    if (kept?.decision.kind === 'role' && now < kept.usableUntil)
      return this.#keep(name, { ...kept, decision: { ...kept.decision, until } })
    const kind = authorize?.onFailure === 'stored' ? 'stored' : 'failed'
    return this.#keep(name, { decision: { kind, until }, url: authorize?.url, usableUntil: until })
  }

  #keep(name: string, kept: KeptDecision): RoleDecision {
    this.#kept.delete(name)
    this.#kept.set(name, kept)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > decisionsMax && oldest !== undefined) this.#kept.delete(oldest)
    return kept.decision
  }
}

/** Returns the traits of an agent that the request contains; null for a person. */
const askedAgent = (agent: AgentTraits | null) =>
  agent && { model: agent.model, onBehalfOf: agent.onBehalfOf, policies: agent.policies }

/** The backend can decide by the traits of an agent, so a decision applies only to an agent with the same ones. */
const nameOf = ({ userId, agent }: Identity, address: DocumentAddress): string =>
  keyName([...addressKey(address), userId, agent === null ? '' : JSON.stringify(askedAgent(agent))])
