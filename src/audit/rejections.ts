import type { Clock } from '../clock.ts'
import type { TenantStore } from '../directory/tenants/tenant-store.ts'
import type { Log } from '../log.ts'
import type { AuditScope } from './keys.ts'
import type { AuditLog, NewRecord } from './log.ts'

/** Time in ms for which rejections are counted before their number is written. */
const windowMs = 60_000
/**
 * Maximum numbers of kinds of rejections that have a separate counter, in one window and in one day. All
 * other kinds share one counter.
 */
const kindsMax = 100
const kindsPerDayMax = 2_000
const dayMs = 86_400_000
/** Maximum length of an API key or a workspace id, in characters. */
const claimLengthMax = 128

/** The credential that a client tried. The operation of the record is `authentication.` and this name. */
export type EntryPoint = 'key' | 'workspace' | 'operator' | 'realtime' | 'metrics'

export interface Rejection {
  readonly door: EntryPoint
  /** Status of the response. */
  readonly outcome: string
  readonly clientAddress: string
  /**
   * Id that the client sent; null if it sent none. It may be any text, even a secret, so it is stored only if
   * it exists.
   */
  readonly claim: ClaimedId | null
}

export interface ClaimedId {
  readonly is: 'apiKey' | 'workspaceId'
  readonly id: string
}

/** Owner of the attempted id. */
interface Owner {
  readonly workspaceId: string
  readonly apiKey: string | null
}

interface Counted extends Omit<Rejection, 'claim'> {
  /** Owner of the attempted id; null if the id does not exist or the client sent none. */
  readonly owner: Owner | null
  readonly since: number
  count: number
}

export interface RefusalsOptions {
  readonly audit: AuditLog
  readonly tenants: Pick<TenantStore, 'tenantOf' | 'workspace'>
  readonly clock: Clock
  readonly log: Log
}

/**
 * Counts failed authentication by client and credential in windows of a minute, so that a flood cannot fill
 * the disk. It writes at most 2,000 records a day, and beyond them one record a minute for all others. All
 * ids that do not exist share one record, so that a client that guesses ids uses only one. A crash loses the
 * numbers of the last minute.
 */
export class RejectionCounter {
  readonly #options: RefusalsOptions
  readonly #kinds = new Map<string, Counted>()
  #others = { count: 0, since: 0 }
  #day = { number: 0, kinds: 0 }
  #cancel: (() => void) | null = null
  /** Rejections that are not counted yet, because their owner is being read. */
  readonly #counting = new Set<Promise<void>>()
  #writing: Promise<void> = Promise.resolve()

  constructor(options: RefusalsOptions) {
    this.#options = options
  }

  /** Counts a rejection. Never throws. */
  note(refusal: Rejection): void {
    const counting = this.#count(refusal, this.#options.clock.now()).finally(() =>
      this.#counting.delete(counting),
    )
    this.#counting.add(counting)
    this.#cancel ??= this.#options.clock.after(windowMs, () => void this.flush())
  }

  /** Writes the numbers. Resolves when they are durable, or when the write has failed. */
  flush(): Promise<void> {
    this.#cancel?.()
    this.#cancel = null
    const counted = [...this.#counting]
    this.#writing = this.#writing.then(() => Promise.all(counted)).then(() => this.#writeAll())
    return this.#writing
  }

  async #count({ claim, ...refusal }: Rejection, now: number): Promise<void> {
    // Counts the rejection without an owner if the owner cannot be read.
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
    const put = (place: AuditScope, record: NewRecord) =>
      places.set(place, [...(places.get(place) ?? []), record])
    for (const kind of kinds) put(kind.owner?.workspaceId ?? null, recordOf(kind))
    if (others.count > 0) put(null, { ...beyond, refusals: others })
    try {
      for (const [place, records] of places) await this.#options.audit.add(place, records)
    } catch (err) {
      this.#options.log.warn({ err }, 'could not record rejected calls in the audit log')
    }
  }

  /** Returns the owner of an id; null if there is no such id. @throws StoreUnavailableError */
  async #ownerOf(claim: ClaimedId | null): Promise<Owner | null> {
    if (claim === null || claim.id.length > claimLengthMax) return null
    const { tenants } = this.#options
    if (claim.is === 'apiKey') return tenants.tenantOf(claim.id)
    const workspace = await tenants.workspace(claim.id)
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
