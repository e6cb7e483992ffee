import { Semaphore } from '../../../core/base/semaphore.ts'
import { mapInSlices } from '../../../core/directory/store/batch.ts'
import {
  decodeQueuedEvent,
  eventQueue,
  eventTopic,
  type QueuedEvent,
} from '../../../core/events/outbound-event.ts'
import { ClaimLoop } from '../../../core/jobs/claim-loop.ts'
import { moveIfMalformed } from '../../../core/jobs/job-payload.ts'
import { LeaderElection } from '../../../core/jobs/leader-election.ts'
import type { ClaimedJob } from '../../../core/store/engine.ts'
import { tenantName } from '../../../core/store/key-encoding.ts'
import type { Services } from '../../../rest/services.ts'
import { deliveryLimits } from '../deliveries/delivery-records.ts'
import { dispatchFailed, Fanout } from './fanout.ts'

/**
 * Maximum number and maximum bytes of events that are claimed in advance. Claiming in advance is necessary to
 * share the dispatching fairly between API keys.
 */
const claimedMax = { events: 4_096, bytes: 33_554_432 }
/** Maximum number of events in one claim. */
const claimMax = 256

interface ClaimedEvent {
  readonly jobId: string
  /** Token of the most recent lease. */
  token: string
  /** Estimated bytes of one message of the event. */
  readonly bytes: number
  readonly event: QueuedEvent
}

/** Maximum number of batches that are dispatched concurrently, in total and for one API key. */
const portionsAtOnce = { total: 8, each: 1 }
/** Limits of a batch. A batch of a single event may have more bytes. */
const portionMax = { events: 256, bytes: 262_144 }
/** Estimated bytes that a message needs in addition to its event: the record and its index entries. */
const messageBytes = 2_048
/**
 * Lease of a claimed event in ms. If a process dies, another process dispatches its events after this time.
 */
const leaseMs = 10_000
/**
 * Polling interval in ms for events without a notice, such as failed events and events of a process that has
 * died.
 */
const pollMs = 5_000

/** The waiting events of one API key. `dispatched` resolves when no event waits any more. */
interface EventLine {
  readonly waiting: ClaimedEvent[]
  readonly dispatched: Promise<void>
}

/**
 * Creates messages for the targets from events. The events of one API key keep their order, so only one node
 * dispatches at a time. The state of the dispatcher is that of its claim loop: when the loop is stopped, no
 * further batch begins.
 */
export class EventDispatcher {
  readonly #services: Services
  readonly #fanout: Fanout
  readonly #unsubscribe: () => void
  /** Events whose jobs are claimed, but that are not dispatched yet, by the id of the job. */
  readonly #claimed = new Map<string, ClaimedEvent>()
  #claimedBytes = 0
  /** Events by API key. */
  readonly #lines = new Map<string, EventLine>()
  readonly #slots = new Semaphore(portionsAtOnce)
  readonly #election: LeaderElection
  readonly #claims: ClaimLoop

  constructor(services: Services) {
    this.#services = services
    const { engine, clock, log } = services
    this.#fanout = new Fanout(services)
    this.#claims = new ClaimLoop(
      clock,
      pollMs,
      () => this.#claim(),
      (err) => log.warn({ event: dispatchFailed, err }, 'could not claim events; retrying'),
    )
    this.#election = new LeaderElection(engine, 'dispatching', clock, log, () => this.#claims.wake())
    this.#unsubscribe = engine.bus.subscribe(eventTopic, () => this.#claims.wake())
  }

  /** Starts to claim events. */
  start(): void {
    this.#election.start()
    this.#claims.start()
  }

  /** Resolves when no event is being dispatched. The next start continues with the remaining events. */
  async stop(): Promise<void> {
    this.#unsubscribe()
    await this.#claims.stop()
    await Promise.all(Array.from(this.#lines.values(), ({ dispatched }) => dispatched))
    await this.#release()
    await this.#election.stop()
  }

  /** Releases the claims of waiting events, so that another node can claim them immediately. */
  async #release(): Promise<void> {
    const { queue } = this.#services.engine
    // If this release fails, the event becomes due at the end of its lease.
    const claimed = [...this.#claimed.values()]
    await Promise.all(claimed.map(({ token }) => queue.retry(token, 0, '').catch(() => false)))
  }

  async #claim(): Promise<void> {
    const free = this.#free
    if (free === 0 || !this.#election.isLeader) return
    const jobs = await this.#services.engine.queue.claim(eventQueue, free, leaseMs)
    if (jobs.length > 0) this.#claims.wake()
    const claimed = (await mapInSlices(jobs, (job) => this.#read(job))).flatMap((each) => each ?? [])
    for (const each of claimed) {
      const known = this.#claimed.get(each.jobId)
      // The lease of the event has expired, and its job was claimed again.
      if (known !== undefined) known.token = each.token
      else this.#append(each)
    }
  }

  /** Maximum number of events in the next claim; 0 if too many events are claimed. */
  get #free(): number {
    return this.#claimedBytes < claimedMax.bytes
      ? Math.min(claimMax, claimedMax.events - this.#claimed.size)
      : 0
  }

  /** Decodes the event of a job. Returns null for a malformed job, after it was moved to the dead letters. */
  async #read(job: ClaimedJob): Promise<ClaimedEvent | null> {
    const { id, token, payload } = job
    const { engine, log } = this.#services
    const bytes = payload.length + messageBytes
    try {
      const event = decodeQueuedEvent(payload)
      const isTooLarge = payload.length > deliveryLimits.eventBytes
      return { jobId: id, token, bytes, event: isTooLarge ? { ...event, data: {} } : event }
    } catch (error) {
      if (await moveIfMalformed({ queue: engine.queue, name: eventQueue, log }, job, error)) return null
      throw error
    }
  }

  #append(claimed: ClaimedEvent): void {
    this.#claimed.set(claimed.jobId, claimed)
    this.#claimedBytes += claimed.bytes
    const name = tenantName(claimed.event.scope)
    const line = this.#lines.get(name)
    if (line !== undefined) return void line.waiting.push(claimed)
    const waiting = [claimed]
    this.#lines.set(name, { waiting, dispatched: this.#dispatchAll(name, waiting) })
  }

  /** Dispatches the events of one API key in batches, including events that arrive meanwhile. */
  async #dispatchAll(name: string, waiting: ClaimedEvent[]): Promise<void> {
    // Waits for one microtask, so that the other events of the same claim are in the first batch.
    await Promise.resolve()
    while (waiting.length > 0 && !this.#claims.isStopped)
      await this.#slots.run(name, () => this.#dispatch(waiting.splice(0, portionOf(waiting))))
    this.#lines.delete(name)
  }

  /** Dispatches a batch. Events that fail become due again at the end of their lease. */
  async #dispatch(portion: readonly ClaimedEvent[]): Promise<void> {
    try {
      const failed = await this.#fanout.tell(
        portion.map(({ event }) => event),
        bytesOf(portion),
        () => this.#claims.isStopped,
      )
      const delivered = portion.filter(({ event }) => !failed.has(event))
      await Promise.all(delivered.map(({ token }) => this.#services.engine.queue.done(token)))
    } catch (err) {
      this.#services.log.warn({ event: dispatchFailed, err }, 'could not dispatch events; retrying')
    }
    const wasFull = this.#free === 0
    for (const { jobId } of portion) this.#claimed.delete(jobId)
    this.#claimedBytes -= bytesOf(portion)
    // The claim loop had paused because the buffer was full.
    if (wasFull) this.#claims.wake()
  }
}

const bytesOf = (claimed: readonly ClaimedEvent[]): number =>
  claimed.reduce((sum, { bytes }) => sum + bytes, 0)

/** Returns the number of events in the next batch; at least 1. */
function portionOf(waiting: readonly ClaimedEvent[]): number {
  const first = waiting.slice(0, portionMax.events)
  let bytes = 0
  const end = first.findIndex((each) => {
    bytes += each.bytes
    return bytes > portionMax.bytes
  })
  return end === -1 ? first.length : Math.max(1, end)
}
