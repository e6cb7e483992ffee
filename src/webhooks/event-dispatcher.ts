import type { Clock } from '../clock.ts'
import { mapInSlices } from '../directory/store/batch.ts'
import type { ClaimedJob, Engine } from '../engine/engine.ts'
import { keyName } from '../engine/key-encoding.ts'
import { decodeQueuedEvent, eventQueue, eventTopic, type QueuedEvent } from '../events/outbound-event.ts'
import { ClaimLoop } from '../jobs/claim-loop.ts'
import { FairSemaphore } from '../jobs/fair-semaphore.ts'
import { moveIfMalformed } from '../jobs/job-payload.ts'
import { LeaderElection } from '../jobs/leader-election.ts'
import { deliveryLimits } from '../subscriptions/deliveries/delivery-records.ts'
import { dispatchFailed, Fanout, type FanoutDependencies } from './fanout.ts'

/** Events of one claim. */
const atOnceMax = 256
/** Maximum number and bytes of events that are claimed ahead, to share the dispatching fairly between API keys. */
const heldMax = { events: 4_096, bytes: 33_554_432 }
/** API keys whose events are dispatched at the same time, one batch each. */
const portionsAtOnce = { total: 8, each: 1 }
/** Limits of a batch. The first event may have more bytes. */
const portionMax = { events: 256, bytes: 262_144 }
/** Bytes that a message needs in addition to its event: the record and its index entries. */
const messageBytes = 2_048
/** Lease of a claimed event in milliseconds. After it, another process dispatches the events of a process that died. */
const leaseMs = 10_000
/** Polling interval for events without a notice, such as failed events and events of a process that died. */
const pollMs = 5_000

export interface DispatcherOptions extends FanoutDependencies {
  readonly engine: Pick<Engine, 'queue' | 'leases' | 'bus'>
  readonly clock: Clock
}

interface WaitingEvent {
  readonly jobId: string
  /** Token of the most recent lease. */
  token: string
  /** Estimated size of one message of the event. */
  readonly bytes: number
  readonly event: QueuedEvent
}

/**
 * Turns events into messages for the targets. The events of one API key keep their order, so only one node dispatches
 * at a time.
 */
export class EventDispatcher {
  readonly #options: DispatcherOptions
  readonly #fanout: Fanout
  readonly #unsubscribe: () => void
  /** Events that wait or are being dispatched, by job id. */
  readonly #held = new Map<string, WaitingEvent>()
  #heldBytes = 0
  /** Events that wait, by API key. */
  readonly #lines = new Map<string, WaitingEvent[]>()
  readonly #running = new Set<Promise<void>>()
  readonly #slots = new FairSemaphore(portionsAtOnce)
  readonly #election: LeaderElection
  readonly #claims: ClaimLoop

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#fanout = new Fanout(options)
    this.#claims = new ClaimLoop({
      clock: options.clock,
      pollMs,
      claim: () => this.#claim(),
      failed: (err) => options.log.warn({ event: dispatchFailed, err }, 'could not claim events; retrying'),
    })
    this.#election = new LeaderElection({
      ...options,
      name: 'dispatching',
      elected: () => this.#claims.wake(),
    })
    this.#unsubscribe = options.engine.bus.subscribe(eventTopic, () => {
      this.#claims.wake()
      return undefined
    })
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
    await Promise.all(this.#running)
    await this.#release()
    await this.#election.stop()
  }

  /** Releases the claims of waiting events, so that another node can claim them at once. */
  async #release(): Promise<void> {
    const { queue } = this.#options.engine
    // If this fails, the event is due at the end of its lease.
    const released = [...this.#held.values()].map(({ token }) => queue.retry(token, 0, '').catch(() => false))
    await Promise.all(released)
  }

  async #claim(): Promise<void> {
    const free = this.#free()
    if (free === 0 || !this.#election.isLeader) return
    const jobs = await this.#options.engine.queue.claim(eventQueue, free, leaseMs)
    if (jobs.length > 0) this.#claims.wake()
    this.#take((await mapInSlices(jobs, (job) => this.#read(job))).flatMap((each) => each ?? []))
  }

  /** Number of events that may be claimed. When the buffer was full, the end of a batch starts the next claim. */
  #free(): number {
    if (this.#heldBytes >= heldMax.bytes) return 0
    return Math.min(atOnceMax, heldMax.events - this.#held.size)
  }

  /** Reads the event of a job. Returns null for a malformed job, which becomes a dead letter. */
  async #read(job: ClaimedJob): Promise<WaitingEvent | null> {
    const { id, token, payload } = job
    const { engine, log } = this.#options
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

  #take(waiting: readonly WaitingEvent[]): void {
    for (const each of waiting) {
      const before = this.#held.get(each.jobId)
      // A job that is already waiting was claimed again, because its lease expired.
      if (before === undefined) this.#append(each)
      else before.token = each.token
    }
  }

  #append(waiting: WaitingEvent): void {
    this.#held.set(waiting.jobId, waiting)
    this.#heldBytes += waiting.bytes
    const { workspaceId, apiKey } = waiting.event.scope
    const name = keyName([workspaceId, apiKey])
    const line = this.#lines.get(name)
    if (line !== undefined) return void line.push(waiting)
    const started = [waiting]
    this.#lines.set(name, started)
    const running = this.#dispatchAll(name, started).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** Dispatches the events of one API key batch by batch, including events that arrive meanwhile. */
  async #dispatchAll(name: string, line: WaitingEvent[]): Promise<void> {
    // Lets the other events of the same claim join the first batch.
    await Promise.resolve()
    while (line.length > 0 && !this.#claims.isStopped)
      await this.#slots.run(name, () => this.#dispatch(line.splice(0, portionOf(line))))
    this.#lines.delete(name)
  }

  /** Dispatches a batch. Failed events are due again at the end of their lease. */
  async #dispatch(portion: readonly WaitingEvent[]): Promise<void> {
    const bytes = portion.reduce((sum, each) => sum + each.bytes, 0)
    try {
      const failed = await this.#fanout.tell(
        portion.map(({ event }) => event),
        bytes,
      )
      const delivered = portion.filter(({ event }) => !failed.has(event))
      await Promise.all(delivered.map(({ token }) => this.#options.engine.queue.done(token)))
    } catch (err) {
      this.#options.log.warn({ event: dispatchFailed, err }, 'could not dispatch events; retrying')
    }
    const wasFull = this.#free() === 0
    for (const { jobId } of portion) this.#held.delete(jobId)
    this.#heldBytes -= bytes
    if (wasFull) this.#claims.wake()
  }
}

/** Number of events of the next batch, at least 1. */
function portionOf(line: readonly WaitingEvent[]): number {
  const first = line.slice(0, portionMax.events)
  let bytes = 0
  const end = first.findIndex((each) => {
    bytes += each.bytes
    return bytes > portionMax.bytes
  })
  return end === -1 ? first.length : Math.max(1, end)
}
