import type { Clock } from '../../core/base/clock.ts'
import { type CounterRecord, counterRecordType } from '../../core/directory/store/records.ts'
import { Transaction, TransactionRunner } from '../../core/directory/store/transaction.ts'
import type { EventType } from '../../core/events/outbound-event.ts'
import type { Tenant } from '../../core/model/address.ts'
import { addressSchemas } from '../../core/model/address-schemas.ts'
import type { Engine, Key } from '../../core/store/engine.ts'
import { cachedKeyNames, tenantName } from '../../core/store/key-encoding.ts'
import type { RecordType } from '../../core/store/stored-record.ts'
import { Topic } from '../../core/store/topic.ts'
import type { CallbacksRecord } from './callback-records.ts'
import {
  type ConfigSnapshot,
  readConfigRevision,
  readConfigSnapshot,
  wantsChanges,
} from './config-snapshot.ts'
import { type MatchableEvent, targetsOfEvent, type WebhookTarget } from './target.ts'
import { type FeedConfig, subscriptionKeys, subscriptionsPart } from './webhook-records.ts'

/** Notices that the configuration of an API key has changed. */
export const subscriptionsTopic = new Topic('subscriptions.change', addressSchemas.tenant)

const nameOf = cachedKeyNames(tenantName)

/**
 * One read of a configuration. After a change, the cache gets a new object, so that the result of an outdated
 * read is not cached.
 */
interface CachedSubscriptions {
  readonly reading: Promise<ConfigSnapshot>
  /** The result of the read; null while the read runs. */
  snapshot: ConfigSnapshot | null
  /**
   * Time in epoch milliseconds of the last check in which the snapshot was equal to the stored configuration.
   */
  checkedAt: number
  isChecking: boolean
}

/**
 * Age in ms at which a snapshot becomes outdated: another node may have changed the configuration since the
 * last check.
 */
const checkedMs = 5_000
/** Minimum interval in ms between two checks of a snapshot. */
const checkEveryMs = 2_500

/**
 * Maximum total of the estimated bytes of all cached snapshots. If the total is larger, the oldest snapshots
 * are evicted.
 */
const cachedBytesMax = 33_554_432

/**
 * Stores the configuration of the webhooks, the callbacks and the feed of API keys, and caches it, so that it is known
 * which event types each key needs.
 */
export class SubscriptionCache {
  readonly #kv: Engine['kv']
  readonly #bus: Engine['bus']
  readonly #transactions: TransactionRunner
  readonly #clock: Clock
  readonly #checkedMs: number
  readonly #checkEveryMs: number
  readonly #bytesMax: number
  readonly #functions: CallbacksRecord | null
  readonly #cache = new Map<string, CachedSubscriptions>()
  #bytes = 0

  constructor(
    { kv, bus, foreignChanges }: Pick<Engine, 'kv' | 'bus' | 'foreignChanges'>,
    clock: Clock,
    bytesMax: number = cachedBytesMax,
    functions: CallbacksRecord | null = null,
  ) {
    this.#kv = kv
    this.#bus = bus
    this.#transactions = new TransactionRunner(kv)
    this.#clock = clock
    this.#checkedMs = Math.max(checkedMs, foreignChanges.maxAgeMs)
    this.#checkEveryMs = Math.max(checkEveryMs, foreignChanges.maxAgeMs)
    this.#bytesMax = bytesMax
    this.#functions = functions
    subscriptionsTopic.subscribe(bus, (tenant) => this.forget(tenant))
    bus.onLoss(() => {
      this.#cache.clear()
      this.#bytes = 0
    })
  }

  /** Maximum time in ms for which a node uses an outdated configuration, if it gets no notice of a change. */
  get outdatedMs(): number {
    return this.#checkedMs
  }

  /**
   * Returns whether any target or the feed may get events of a type. For changes of content, only targets count:
   * see `wantsChanges`. If the configuration is not cached, returns true and starts to read the configuration. A
   * change by this process applies immediately. A change by another node applies when its notice arrives. If the
   * notice is lost, the change applies within 5 s.
   */
  wanted(tenant: Tenant, type: EventType): boolean {
    return this.#isWanted(tenant, ({ types }) => types.has(type))
  }

  /**
   * Returns whether the feed of an API key may be on, or its callback `store`. The rules of `wanted` apply.
   */
  wantsChanges(tenant: Tenant): boolean {
    return this.#isWanted(tenant, wantsChanges)
  }

  #isWanted(tenant: Tenant, isIn: (snapshot: ConfigSnapshot) => boolean): boolean {
    const known = this.#cache.get(nameOf(tenant))
    if (known === undefined) this.#load(tenant)
    if (known === undefined || known.snapshot === null || isIn(known.snapshot)) return true
    return !this.#isChecked(tenant, known)
  }

  async feedOf(tenant: Tenant): Promise<FeedConfig> {
    return (await this.#current(tenant)).feed
  }

  /** Returns the targets that get an event according to the stored configuration. */
  async targetsOf(tenant: Tenant, event: MatchableEvent): Promise<readonly WebhookTarget[]> {
    const { targets } = await this.#current(tenant)
    return targetsOfEvent(targets, event)
  }

  /**
   * Returns the target with an id (see `WebhookTarget`) according to the stored configuration. Returns null if
   * nothing is sent to the target, because the target is disabled or removed, or because its service is off.
   */
  async targetOf(tenant: Tenant, targetId: string): Promise<WebhookTarget | null> {
    const { targets } = await this.#current(tenant)
    return targets.find(({ id }) => id === targetId) ?? null
  }

  /**
   * Returns the callbacks of an API key; null if none are configured. A change by this process applies
   * immediately, a change by another node like in `wanted`.
   */
  async callbacksOf(tenant: Tenant): Promise<CallbacksRecord | null> {
    const known = this.#cache.get(nameOf(tenant))
    if (known !== undefined && known.snapshot !== null && this.#isChecked(tenant, known))
      return known.snapshot.callbacks
    return (await this.#current(tenant)).callbacks
  }

  /** Returns a transaction that only reads the stored configuration. Its writes would never be committed. */
  read(tenant: Tenant): Transaction {
    return new Transaction(this.#kv, subscriptionsPart(tenant))
  }

  /**
   * Changes the configuration of an API key. Resolves when the change is durable and the caches have been
   * notified. Changes of the same API key run one after the other.
   * @throws ApiError ABORTED if conflicts with concurrent changes continue, or the errors of `work`; in both
   * cases nothing has changed
   */
  async change<T>(tenant: Tenant, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    try {
      const part = subscriptionsPart(tenant)
      return await this.#transactions.run(part, (transaction) => revised(transaction, work))
    } finally {
      // Also notifies after an error, because the commit may have succeeded nevertheless.
      this.forget(tenant)
      const { workspaceId, apiKey } = tenant
      subscriptionsTopic.publish(this.#bus, { workspaceId, apiKey })
    }
  }

  /**
   * Changes one record of the configuration.
   * @param next returns the new record. Gets the stored one; null if there is none
   * @throws like `change`
   */
  changeRecord<R extends object>(
    tenant: Tenant,
    key: Key,
    type: RecordType<R>,
    next: (stored: R | null) => R,
  ): Promise<R> {
    return this.change(tenant, async (transaction) => {
      const record = next(await transaction.get(key, type))
      transaction.put(key, record)
      return record
    })
  }

  /** Evicts the configuration of an API key. */
  forget(tenant: Tenant): void {
    const name = nameOf(tenant)
    this.#bytes -= this.#cache.get(name)?.snapshot?.bytes ?? 0
    this.#cache.delete(name)
  }

  /**
   * Returns whether the last successful check of a snapshot is recent enough to rely on the snapshot. Starts
   * a new check if one is due.
   */
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

  /**
   * Compares the revision of a snapshot with the revision in the store. If the store cannot be read, the
   * snapshot becomes outdated after `#checkedMs`.
   */
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
    // If several callers run concurrently, the first one reads the configuration again, and the others use
    // its result.
    return this.#cache.get(name) === known ? this.#load(tenant).reading : this.#current(tenant)
  }

  /**
   * Starts to read a configuration, and caches the read. If the read fails, the cache evicts it, so that the
   * next call starts a new read.
   */
  #load(tenant: Tenant): CachedSubscriptions {
    const name = nameOf(tenant)
    this.forget(tenant)
    const cached: CachedSubscriptions = {
      reading: readConfigSnapshot(this.#kv, tenant, this.#functions),
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
      // Skips a read that is still running, because its size is not known yet.
      if (oldest === null) continue
      this.#bytes -= oldest.bytes
      this.#cache.delete(name)
    }
  }
}

/**
 * Runs `work`, and increments the revision. The revision is read before `work` runs. A concurrent change
 * therefore always conflicts, even if `work` only scans.
 */
async function revised<T>(
  transaction: Transaction,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const revision = await transaction.get(subscriptionKeys.revision, counterRecordType)
  const result = await work(transaction)
  if (transaction.written().length > 0)
    transaction.put(subscriptionKeys.revision, { count: (revision?.count ?? 0) + 1 } satisfies CounterRecord)
  return result
}
