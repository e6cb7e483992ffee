import { runUntraced } from '../../base/current-trace.ts'
import { memoized } from '../../base/maps.ts'
import { VisitTracker } from '../../events/visit-tracker.ts'
import type { OrganizationAddress, Tenant } from '../../model/address.ts'
import type { Engine } from '../../store/engine.ts'
import { keyName } from '../../store/key-encoding.ts'
import type { DirectoryOptions } from '../directory-options.ts'
import { type OrganizationScope, organizationPart } from '../organizations/organization-keys.ts'
import { findOrganization } from '../organizations/organization-store.ts'
import { mapInSlices } from '../store/batch.ts'
import { ClusterVisits, type VisitEvent, withoutErasedUsers } from './cluster-visits.ts'

/**
 * Maximum number of events that wait while the store is unavailable. When this number is reached, further
 * events are dropped.
 */
export const waitingMax = 10_000
/** Maximum number of events in one commit. */
const batchMax = 500
/** Maximum number of organizations whose events are written in parallel. */
const atOnceMax = 32
/** Delay in ms before events are written again after a failure. */
const retryMs = 1_000

interface WaitingVisit {
  readonly scope: OrganizationScope
  events: VisitEvent[]
}

/**
 * Records the events `presence.join` and `presence.leave`. For each user, they are recorded in the order in
 * which they happened.
 */
export class VisitRecorder {
  /** Receives the joins and leaves that presence reports. */
  readonly visits: VisitTracker
  readonly #options: Pick<DirectoryOptions, 'store' | 'events' | 'clock' | 'log' | 'awayMs'>
  readonly #stored: ClusterVisits
  readonly #waiting = new Map<string, WaitingVisit>()
  #count = 0
  #writing: Promise<void> | null = null
  #cancelRetry: (() => void) | null = null
  #state: 'open' | 'full' | 'ended' = 'open'

  constructor(
    engine: Pick<Engine, 'kv' | 'cluster'>,
    options: Pick<DirectoryOptions, 'store' | 'events' | 'clock' | 'log' | 'awayMs'>,
  ) {
    const { clock, awayMs } = options
    this.#options = options
    this.#stored = new ClusterVisits(engine, options)
    this.visits = new VisitTracker(
      clock,
      awayMs,
      (document) => this.#isWanted(document),
      (event, { document, ...change }) =>
        this.#tell(document, { event, documentId: document.documentId, ...change }),
    )
  }

  /** Starts the check for dead nodes, which ends the visits of these nodes. */
  start(): void {
    this.#stored.start()
  }

  /**
   * Records the pending leaves. Resolves when all events are written, or when an attempt to write them has
   * failed. Later events are dropped.
   */
  async stop(): Promise<void> {
    this.visits.end()
    this.#state = 'ended'
    this.#cancelRetry?.()
    this.#write()
    await this.#writing
    await this.#stored.stop()
  }

  #tell(document: OrganizationAddress, event: VisitEvent): void {
    if (this.#count >= waitingMax) return this.#overflow()
    const { workspaceId, apiKey, organizationId } = document
    const name = keyName(organizationPart(document))
    const scope = { workspaceId, apiKey, organizationId }
    memoized(this.#waiting, name, (): WaitingVisit => ({ scope, events: [] })).events.push(event)
    this.#count += 1
    this.#write()
  }

  #overflow(): void {
    if (this.#state === 'open')
      this.#options.log.warn('too many presence events wait for the store; some are lost')
    this.#state = 'full'
  }

  #write(): void {
    if (this.#cancelRetry !== null && this.#state !== 'ended') return
    // One run writes the events of all tenants, so it belongs to the trace of none.
    this.#writing ??= runUntraced(() => this.#writeAll())
  }

  /** Writes the waiting events. Events that arrive during a commit are written with the next commit. */
  async #writeAll(): Promise<void> {
    // Waits for the end of this tick, so that its other events are written together with the first one.
    await Promise.resolve()
    while (this.#waiting.size > 0) {
      const written = await mapInSlices(
        [...this.#waiting],
        ([name, each]) => this.#writeSome(name, each),
        atOnceMax,
      )
      if (written.includes('failed')) {
        this.#writing = null
        return this.#retry()
      }
    }
    // No `await` lies between the last check of the loop and this line. So an event that arrives later starts
    // a new run.
    this.#writing = null
    if (this.#state === 'full') this.#state = 'open'
  }

  async #writeSome(name: string, { scope, events }: WaitingVisit): Promise<'written' | 'failed'> {
    const some = events.slice(0, batchMax)
    const { store } = this.#options
    try {
      const isKept = (await findOrganization(store.read(scope))) !== null
      // Checks the subscriptions again, because they may have been unknown when the events arrived.
      if (!this.#isWanted(scope)) return this.#written(name, some.length)
      if (isKept) await this.#stored.mark(scope)
      await store.carryOut(scope, async (transaction) => {
        const admitted = await this.#stored.admit(transaction, some)
        const recorded = await withoutErasedUsers(transaction, admitted)
        this.#options.events.recordNew(transaction, scope, recorded)
      })
    } catch (err) {
      this.#options.log.warn({ err }, 'could not write presence events')
      return 'failed'
    }
    return this.#written(name, some.length)
  }

  #written(name: string, count: number): 'written' {
    const waiting = this.#waiting.get(name)
    waiting?.events.splice(0, count)
    this.#count -= count
    if (waiting?.events.length === 0) this.#waiting.delete(name)
    return 'written'
  }

  /**
   * Returns whether an API key subscribes to joins or leaves. Joins are also needed if only leaves are
   * subscribed to: a node that reports leaves must know who has joined.
   */
  #isWanted(tenant: Tenant): boolean {
    const { events } = this.#options
    return events.wants(tenant, 'presence.join') || events.wants(tenant, 'presence.leave')
  }

  #retry(): void {
    if (this.#state === 'ended') return
    this.#cancelRetry = this.#options.clock.after(retryMs, () => {
      this.#cancelRetry = null
      this.#write()
    })
  }
}
