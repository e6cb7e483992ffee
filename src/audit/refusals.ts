import type { Clock } from '../clock.ts'
import type { Tenants } from '../directory/tenants.ts'
import type { Log } from '../log.ts'
import type { Tenant } from '../model/address.ts'
import type { AuditPlace } from './keys.ts'
import type { AuditLog, NewRecord } from './log.ts'

/** Refusals are counted for so long, and then written. */
const windowMs = 60_000
/** Kinds of refusals that are told apart in one window, and in one day; others are counted together. */
const kindsMax = 100
const kindsPerDayMax = 2_000
const dayMs = 86_400_000
/** No API key and no workspace id is longer. */
const claimLengthMax = 128

/** What was tried: `authentication.…` of that door. */
export type Door = 'key' | 'workspace' | 'operator' | 'realtime' | 'metrics'

export interface Refusal {
  readonly door: Door
  /** Status of the answer. */
  readonly outcome: string
  readonly clientAddress: string
  /** As the client says: may be anything, a secret too. Never stored unless it exists. */
  readonly claim: Claim | null
}

export interface Claim {
  readonly is: 'apiKey' | 'workspaceId'
  readonly id: string
}

interface Counted extends Refusal {
  readonly since: number
  count: number
}

export interface RefusalsOptions {
  readonly audit: AuditLog
  readonly tenants: Pick<Tenants, 'tenantOf' | 'workspace'>
  readonly clock: Clock
  readonly log: Log
}

/**
 * Failed authentication, counted by who tried what for a minute at a time, so that a flood fills no disk: at most 2,000
 * records a day, and one a minute for all that is beyond. A crash loses what has been counted in the last minute.
 */
export class Refusals {
  readonly #options: RefusalsOptions
  readonly #kinds = new Map<string, Counted>()
  #others = { count: 0, since: 0 }
  #day = { number: 0, kinds: 0 }
  #cancel: (() => void) | null = null
  #writing: Promise<void> = Promise.resolve()

  constructor(options: RefusalsOptions) {
    this.#options = options
  }

  /** Counts one. Never throws. */
  note(refusal: Refusal): void {
    const { clock } = this.#options
    const now = clock.now()
    const { door, outcome, clientAddress } = refusal
    const claim = refusal.claim !== null && refusal.claim.id.length <= claimLengthMax ? refusal.claim : null
    const kind = JSON.stringify([door, outcome, clientAddress, claim])
    const known = this.#kinds.get(kind)
    if (known !== undefined) known.count += 1
    else if (this.#mayTellApart(now)) this.#kinds.set(kind, { ...refusal, claim, since: now, count: 1 })
    else
      this.#others = {
        count: this.#others.count + 1,
        since: this.#others.count === 0 ? now : this.#others.since,
      }
    this.#cancel ??= clock.after(windowMs, () => void this.flush())
  }

  /** Writes what has been counted. Resolves when it is durable, or could not be written. */
  flush(): Promise<void> {
    this.#cancel?.()
    this.#cancel = null
    const kinds = [...this.#kinds.values()]
    const others = this.#others
    this.#kinds.clear()
    this.#others = { count: 0, since: 0 }
    this.#writing = this.#writing.then(() => this.#write(kinds, others))
    return this.#writing
  }

  #mayTellApart(now: number): boolean {
    const number = Math.floor(now / dayMs)
    if (number !== this.#day.number) this.#day = { number, kinds: 0 }
    if (this.#kinds.size >= kindsMax || this.#day.kinds >= kindsPerDayMax) return false
    this.#day.kinds += 1
    return true
  }

  async #write(kinds: readonly Counted[], others: { count: number; since: number }): Promise<void> {
    try {
      const places = new Map<AuditPlace, NewRecord[]>()
      const put = (place: AuditPlace, record: NewRecord) =>
        places.set(place, [...(places.get(place) ?? []), record])
      for (const kind of kinds) {
        const owner = await this.#ownerOf(kind.claim)
        put(owner?.workspaceId ?? null, recordOf(kind, owner))
      }
      if (others.count > 0) put(null, { ...beyond, refusals: others })
      for (const [place, records] of places) await this.#options.audit.add(place, records)
    } catch (err) {
      this.#options.log.warn({ err }, 'refusals are not in the audit log')
    }
  }

  /** Whom the id that was tried belongs to; null: there is nothing of that id. */
  async #ownerOf(claim: Claim | null): Promise<Owner | null> {
    if (claim === null) return null
    const { tenants } = this.#options
    if (claim.is === 'apiKey') return tenants.tenantOf(claim.id)
    const workspace = await tenants.workspace(claim.id)
    return workspace && { workspaceId: workspace.id, apiKey: null }
  }
}

type Owner = Pick<Tenant, 'workspaceId'> & { readonly apiKey: string | null }

const beyond: NewRecord = { operation: 'authentication', actor: 'nobody', outcome: 'UNAUTHENTICATED' }

const recordOf = (
  { door, outcome, clientAddress, count, since }: Counted,
  owner: Owner | null,
): NewRecord => ({
  operation: `authentication.${door}`,
  actor: 'nobody',
  apiKey: owner?.apiKey ?? null,
  clientAddress,
  outcome,
  refusals: { count, since },
})
