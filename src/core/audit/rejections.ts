import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { addTo } from '../base/maps.ts'
import type { TenantStore } from '../directory/tenants/tenant-store.ts'
import type { AuditLog, NewRecord } from './log.ts'
import type { AuditScope } from './record.ts'

/** Time in ms for which rejections are counted before their number is written to the log. */
const windowMs = 60_000
/**
 * Maximum number of kinds of rejections that have their own counter, in one window and in one day. All
 * further kinds share one counter.
 */
const kindsMax = 100
const kindsPerDayMax = 2_000
const dayMs = 86_400_000
/** Maximum length of a claimed API key or workspace id, in characters. */
const claimLengthMax = 128

/**
 * The kind of credential that a client tried. The operation of the record is `authentication.` followed by
 * this name.
 */
export type EntryPoint = 'key' | 'workspace' | 'operator' | 'realtime' | 'metrics'

interface Rejection {
  readonly door: EntryPoint
  /** Status of the response. */
  readonly outcome: string
  readonly clientAddress: string
  /**
   * Id that the client sent; null if the client sent no id. It may be any text, even a secret. Therefore it
   * is stored only if such an API key or workspace exists.
   */
  readonly claim: ClaimedId | null
}

export interface ClaimedId {
  readonly is: 'apiKey' | 'workspaceId'
  readonly id: string
}

/** The workspace, and possibly the API key, that has the attempted id. */
interface Owner {
  readonly workspaceId: string
  readonly apiKey: string | null
}

interface Counted extends Omit<Rejection, 'claim'> {
  /** Owner of the attempted id. Null if the id does not exist, or if the client sent no id. */
  readonly owner: Owner | null
  readonly since: number
  count: number
}

/**
 * Counts failed authentications, by client and credential, in windows of one minute. Because of this, a flood
 * of them cannot fill the disk. Writes at most 2,000 records a day, plus one record a minute for all further
 * kinds. All ids that do not exist share one record, so that a client that guesses ids causes only one
 * record. A crash loses the numbers of the last minute.
 */
export class RejectionCounter {
  readonly #audit: AuditLog
  readonly #tenants: Pick<TenantStore, 'tenantOf' | 'workspace'>
  readonly #clock: Clock
  readonly #log: Log
  readonly #kinds = new Map<string, Counted>()
  #others = { count: 0, since: 0 }
  #day = { number: 0, kinds: 0 }
  #cancel: (() => void) | null = null
  /** Rejections that are not counted yet, because their owner is still being read. */
  readonly #counting = new Set<Promise<void>>()
  #writing: Promise<void> = Promise.resolve()

  constructor(audit: AuditLog, tenants: Pick<TenantStore, 'tenantOf' | 'workspace'>, clock: Clock, log: Log) {
    this.#audit = audit
    this.#tenants = tenants
    this.#clock = clock
    this.#log = log
  }

  /** Counts a rejection in the current window. Never throws. */
  note(refusal: Rejection): void {
    const counting = this.#count(refusal, this.#clock.now()).finally(() => this.#counting.delete(counting))
    this.#counting.add(counting)
    this.#cancel ??= this.#clock.after(windowMs, () => void this.flush())
  }

  /**
   * Writes the numbers of the current window to the log. Resolves when they are durable, or when the write
   * has failed.
   */
  flush(): Promise<void> {
    this.#cancel?.()
    this.#cancel = null
    const counted = [...this.#counting]
    this.#writing = this.#writing.then(() => Promise.all(counted)).then(() => this.#writeAll())
    return this.#writing
  }

  async #count({ claim, ...refusal }: Rejection, now: number): Promise<void> {
    // If the owner cannot be read, counts the rejection without an owner.
    const owner = await this.#ownerOf(claim).catch(() => null)
    const kind = JSON.stringify([refusal.door, refusal.outcome, refusal.clientAddress, owner])
    const known = this.#kinds.get(kind)
    if (known !== undefined) known.count += 1
    else if (this.#mayTellApart(now)) this.#kinds.set(kind, { ...refusal, owner, since: now, count: 1 })
    else
      this.#others = {
        count: this.#others.count + 1,
        since: this.#others.count === 0 ? now : this.#others.since,
      }
  }

  #mayTellApart(now: number): boolean {
    const number = Math.floor(now / dayMs)
    if (number !== this.#day.number) this.#day = { number, kinds: 0 }
    if (this.#kinds.size >= kindsMax || this.#day.kinds >= kindsPerDayMax) return false
    this.#day.kinds += 1
    return true
  }

  async #writeAll(): Promise<void> {
    const [kinds, others] = [[...this.#kinds.values()], this.#others]
    this.#kinds.clear()
    this.#others = { count: 0, since: 0 }
    const places = new Map<AuditScope, NewRecord[]>()
    for (const kind of kinds) addTo(places, kind.owner?.workspaceId ?? null, recordOf(kind))
    if (others.count > 0) addTo(places, null, { ...beyond, refusals: others })
    try {
      for (const [place, records] of places) await this.#audit.add(place, records)
    } catch (err) {
      this.#log.warn({ err }, 'could not record rejected calls in the audit log')
    }
  }

  /** Returns the owner of a claimed id; null if the id does not exist. @throws StoreUnavailableError */
  async #ownerOf(claim: ClaimedId | null): Promise<Owner | null> {
    if (claim === null || claim.id.length > claimLengthMax) return null
    if (claim.is === 'apiKey') return this.#tenants.tenantOf(claim.id)
    const workspace = await this.#tenants.workspace(claim.id)
    return workspace && { workspaceId: workspace.id, apiKey: null }
  }
}

const beyond: NewRecord = { operation: 'authentication', actor: 'nobody', outcome: 'UNAUTHENTICATED' }

const recordOf = ({ door, outcome, clientAddress, owner, count, since }: Counted): NewRecord => ({
  operation: `authentication.${door}`,
  actor: 'nobody',
  apiKey: owner?.apiKey ?? null,
  clientAddress,
  outcome,
  refusals: { count, since },
})
