import type { Clock } from '../clock.ts'
import type { Engine } from '../engine/engine.ts'
import { cachedKeyNames, keyName } from '../engine/key-encoding.ts'
import type { EventType } from '../events/outbound-event.ts'
import { readJson } from '../json.ts'
import type { Tenant } from '../model/address.ts'
import { addressSchemas } from '../model/address-schemas.ts'
import { type ConfigSnapshot, readConfigRevision, readConfigSnapshot } from './config-snapshot.ts'
import { type MatchableEvent, targetIdOf, targetsOfEvent, type WebhookTarget } from './target.ts'

/** The topic on which is told that an API key has configured something. */
export const subscriptionsTopic = 'subscriptions.change'

export const encodeChange = ({ workspaceId, apiKey }: Tenant): Uint8Array =>
  Buffer.from(JSON.stringify({ workspaceId, apiKey }))

const decodeChange = (message: Uint8Array): Tenant => readJson(addressSchemas.tenant, message)

const nameOf = cachedKeyNames(({ workspaceId, apiKey }: Tenant) => keyName([workspaceId, apiKey]))

/** An object of its own for each reading: one that a change overtakes is remembered no more. */
interface CachedSubscriptions {
  readonly reading: Promise<ConfigSnapshot>
  /** Null while it is being read. */
  snapshot: ConfigSnapshot | null
  /** When it was known to be what is stored; epoch milliseconds. */
  checkedAt: number
  isChecking: boolean
}

/** One that was not looked at for so long may be another by now, in ms, where others change what is stored. */
const checkedMs = 5_000
/** One that is asked for is looked at so often, in ms. */
const checkEveryMs = 2_500

/** Bytes of what is remembered, roughly; of more, what is remembered longest is forgotten. */
const cachedBytesMax = 33_554_432

/** Who wants to be told of what. */
export class SubscriptionCache {
  readonly #kv: Engine['kv']
  readonly #clock: Clock
  readonly #checkedMs: number
  readonly #checkEveryMs: number
  readonly #bytesMax: number
  readonly #cache = new Map<string, CachedSubscriptions>()
  #bytes = 0

  constructor(
    { kv, bus, foreignChanges }: Pick<Engine, 'kv' | 'bus' | 'foreignChanges'>,
    clock: Clock,
    bytesMax: number = cachedBytesMax,
  ) {
    this.#kv = kv
    this.#clock = clock
    this.#checkedMs = Math.max(checkedMs, foreignChanges.maxAgeMs)
    this.#checkEveryMs = Math.max(checkEveryMs, foreignChanges.maxAgeMs)
    this.#bytesMax = bytesMax
    bus.subscribe(subscriptionsTopic, (message) => {
      this.forget(decodeChange(message))
      return undefined
    })
    bus.onLoss(() => {
      this.#cache.clear()
      this.#bytes = 0
    })
  }

  /**
   * Whether anybody may want to be told of events of a type: true, too, while that is not known, and then it is found
   * out. What this process changes acts at once, what others change when the bus has told it, or, where the news is lost,
   * within 5 s.
   */
  wanted(tenant: Tenant, type: EventType): boolean {
    const known = this.#cache.get(nameOf(tenant))
    if (known === undefined) this.#load(tenant)
    if (known === undefined || known.snapshot === null || known.snapshot.types.has(type)) return true
    return !this.#isChecked(tenant, known)
  }

  /** Those that are to be told of an event, as stored at this moment. */
  async targetsOf(tenant: Tenant, event: MatchableEvent): Promise<readonly WebhookTarget[]> {
    const { targets } = await this.#current(tenant)
    return targetsOfEvent(targets, event)
  }

  /**
   * The target of an id (see `targetIdOf`), as stored at this moment; null when nothing is sent to it: it is disabled or
   * removed, or its whole service is off.
   */
  async targetOf(tenant: Tenant, targetId: string): Promise<WebhookTarget | null> {
    const { targets } = await this.#current(tenant)
    return targets.find((target) => targetIdOf(target) === targetId) ?? null
  }

  /** To be called when the API key has changed what it has configured. */
  forget(tenant: Tenant): void {
    const name = nameOf(tenant)
    this.#bytes -= this.#cache.get(name)?.snapshot?.bytes ?? 0
    this.#cache.delete(name)
  }

  /** Is it sure to be what was stored a short time ago? Else it is looked at. */
  #isChecked(tenant: Tenant, known: CachedSubscriptions): boolean {
    const age = this.#clock.now() - known.checkedAt
    if (age >= this.#checkEveryMs && !known.isChecking) {
      known.isChecking = true
      void this.#check(tenant, known).finally(() => {
        known.isChecking = false
      })
    }
    return age < this.#checkedMs
  }

  /** What cannot be read counts as unknown after a while. */
  async #check(tenant: Tenant, known: CachedSubscriptions): Promise<void> {
    const asked = this.#clock.now()
    const revision = await readConfigRevision(this.#kv, tenant).catch(() => null)
    if (revision === null) return
    if (revision === known.snapshot?.revision) known.checkedAt = asked
    else if (this.#cache.get(nameOf(tenant)) === known) this.#load(tenant)
  }

  async #current(tenant: Tenant): Promise<ConfigSnapshot> {
    const name = nameOf(tenant)
    const known = this.#cache.get(name)
    if (known === undefined) return this.#load(tenant).reading
    const snapshot = await known.reading
    if (snapshot.revision === (await readConfigRevision(this.#kv, tenant))) return snapshot
    // Of many who find this out at once the first reads it anew, for all.
    return this.#cache.get(name) === known ? this.#load(tenant).reading : this.#current(tenant)
  }

  /** A reading that fails is forgotten: the next question asks again. */
  #load(tenant: Tenant): CachedSubscriptions {
    const name = nameOf(tenant)
    this.forget(tenant)
    const cached: CachedSubscriptions = {
      reading: readConfigSnapshot(this.#kv, tenant),
      snapshot: null,
      checkedAt: this.#clock.now(),
      isChecking: false,
    }
    this.#cache.set(name, cached)
    const isCurrent = () => this.#cache.get(name) === cached
    cached.reading.then(
      (snapshot) => isCurrent() && this.#keep(cached, snapshot),
      () => isCurrent() && this.#cache.delete(name),
    )
    return cached
  }

  #keep(cached: CachedSubscriptions, snapshot: ConfigSnapshot): void {
    cached.snapshot = snapshot
    this.#bytes += snapshot.bytes
    for (const [name, { snapshot: oldest }] of this.#cache) {
      if (this.#bytes <= this.#bytesMax) return
      // What is still being read takes no room yet.
      if (oldest === null) continue
      this.#bytes -= oldest.bytes
      this.#cache.delete(name)
    }
  }
}
