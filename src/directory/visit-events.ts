import type { Clock } from '../clock.ts'
import { keyName } from '../engine/keys.ts'
import type { Events } from '../events/events.ts'
import type { OutboundEvent } from '../events/outbound.ts'
import { Visits } from '../events/visits.ts'
import type { Log } from '../log.ts'
import type { OrganizationAddress } from '../model/address.ts'
import { withoutUser } from '../model/named-users.ts'
import { areErasedSince } from './erased-users.ts'
import { inSlices } from './items.ts'
import { type OrganizationScope, organizationPart } from './organization-keys.ts'
import type { OrganizationStore } from './organization-store.ts'
import type { Reader } from './reader.ts'

/** Events that wait to be written, while the store is away; more are not told. */
export const waitingMax = 10_000
/** Events of one commit. */
const batchMax = 500
/** Organizations whose events are written at the same time. */
const atOnceMax = 32
/** Pause before trying again. */
const retryMs = 1_000

export interface VisitEventsOptions {
  readonly store: OrganizationStore
  readonly events: Events
  readonly clock: Clock
  readonly log: Log
  /** Who comes back within this time has not been away. */
  readonly awayMs: number
}

interface Waiting {
  readonly scope: OrganizationScope
  events: VisitEvent[]
}

interface VisitEvent {
  readonly event: OutboundEvent
  /** When the user came, or went: epoch milliseconds. */
  readonly at: number
}

/** Tells who comes to documents and who leaves: `presence.join` and `presence.leave`, of each user in this order. */
export class VisitEvents {
  /** For presence boards, to note who comes and goes. */
  readonly visits: Visits
  readonly #options: VisitEventsOptions
  readonly #waiting = new Map<string, Waiting>()
  #count = 0
  #writing: Promise<void> | null = null
  #cancelRetry: (() => void) | null = null
  #state: 'open' | 'full' | 'ended' = 'open'

  constructor(options: VisitEventsOptions) {
    const { events, clock, awayMs } = options
    this.#options = options
    this.visits = new Visits({
      clock,
      awayMs,
      wants: (document, type) => events.wants(document, type),
      tell: (document, event, at) => this.#tell(document, { event, at }),
    })
  }

  /** Tells who has gone before; resolves when all is written, or cannot be. What happens later is not told. */
  async stop(): Promise<void> {
    this.visits.end()
    this.#state = 'ended'
    this.#cancelRetry?.()
    this.#write()
    await this.#writing
  }

  #tell(document: OrganizationAddress, event: VisitEvent): void {
    if (this.#count >= waitingMax) return this.#overflow()
    const { workspaceId, apiKey, organizationId } = document
    const name = keyName(organizationPart(document))
    const waiting = this.#waiting.get(name) ?? { scope: { workspaceId, apiKey, organizationId }, events: [] }
    this.#waiting.set(name, waiting)
    waiting.events.push(event)
    this.#count += 1
    this.#write()
  }

  #overflow(): void {
    if (this.#state === 'open') this.#options.log.warn('who comes and goes is not told: too much waits')
    this.#state = 'full'
  }

  #write(): void {
    if (this.#cancelRetry !== null && this.#state !== 'ended') return
    this.#writing ??= this.#writeAll()
  }

  /** What comes while a commit is on its way goes with the next one. */
  async #writeAll(): Promise<void> {
    // The other events of this turn of the event loop go with the first.
    await Promise.resolve()
    while (this.#waiting.size > 0) {
      const written = await inSlices(
        [...this.#waiting],
        ([name, each]) => this.#writeSome(name, each),
        atOnceMax,
      )
      if (written.includes('failed')) {
        this.#writing = null
        return this.#retry()
      }
    }
    // In the turn that has found nothing more: who comes now begins anew.
    this.#writing = null
    if (this.#state === 'full') this.#state = 'open'
  }

  async #writeSome(name: string, { scope, events }: Waiting): Promise<'written' | 'failed'> {
    const some = events.slice(0, batchMax)
    try {
      await this.#options.store.carryOut(scope, async (transaction) =>
        this.#options.events.recordNew(
          transaction,
          scope,
          (await withoutErased(transaction, some)).map((outbound) => ({ activity: null, outbound })),
        ),
      )
    } catch (err) {
      this.#options.log.warn({ err }, 'who comes and goes cannot be told')
      return 'failed'
    }
    events.splice(0, some.length)
    this.#count -= some.length
    if (events.length === 0) this.#waiting.delete(name)
    return 'written'
  }

  #retry(): void {
    if (this.#state === 'ended') return
    this.#cancelRetry = this.#options.clock.after(retryMs, () => {
      this.#cancelRetry = null
      this.#write()
    })
  }
}

/** The events without users whose data were deleted meanwhile: a name that is gone must not come back. */
async function withoutErased(
  reader: Reader,
  visits: readonly VisitEvent[],
): Promise<readonly OutboundEvent[]> {
  const erased = await areErasedSince(
    reader,
    visits.map(({ event, at }) => ({ userId: event.actionUser.userId, at })),
  )
  return visits.map(({ event }, index) =>
    erased[index] === true ? withoutUser(event, { userId: event.actionUser.userId }) : event,
  )
}
