import type { Clock } from '../clock.ts'
import { mapInSlices } from '../directory/store/batch.ts'
import type { ClaimedJob, Engine } from '../engine/engine.ts'
import { keyName } from '../engine/key-encoding.ts'
import { decodeQueuedEvent, eventQueue, eventTopic, type QueuedEvent } from '../events/outbound-event.ts'
import { FairSemaphore } from '../jobs/fair-semaphore.ts'
import { moveIfMalformed } from '../jobs/job-payload.ts'
import { LeaderElection } from '../jobs/leader-election.ts'
import { deliveryLimits } from '../subscriptions/deliveries/delivery-records.ts'
import { Fanout, type FanoutDependencies } from './fanout.ts'

/** Events that are claimed together. */
const atOnceMax = 256
/** Events that are claimed and wait for their turn: so far ahead it is seen whose they are. */
const heldMax = { events: 4_096, bytes: 33_554_432 }
/** API keys whose events are dispatched at the same time, a portion each. */
const portionsAtOnce = { total: 8, each: 1 }
/** Of a portion, whose first event may have more bytes. */
const portionMax = { events: 256, bytes: 262_144 }
/** What a message of an event costs beside the event, in bytes: its record and the indexes. */
const messageBytes = 2_048
/** An event of a process that has died is dispatched by the next one after this. */
const leaseMs = 10_000
/** How often events are looked for that nobody has told of: those of a process that has died, or failed ones. */
const pollMs = 5_000

export interface DispatcherOptions extends FanoutDependencies {
  readonly engine: Pick<Engine, 'queue' | 'leases' | 'bus'>
  readonly clock: Clock
}

interface WaitingEvent {
  readonly jobId: string
  /** Of the lease that it was given last. */
  token: string
  /** Of a message of it, roughly. */
  readonly bytes: number
  readonly event: QueuedEvent
}

/**
 * Has messages made of events. Each API key has a line of its own, in which its events keep their order: therefore one
 * node at a time dispatches.
 */
export class EventDispatcher {
  readonly #options: DispatcherOptions
  readonly #fanout: Fanout
  readonly #unsubscribe: () => void
  /** What waits for its turn, or is being dispatched, by the ids of jobs. */
  readonly #held = new Map<string, WaitingEvent>()
  #heldBytes = 0
  /** What waits for its turn, by API key. */
  readonly #lines = new Map<string, WaitingEvent[]>()
  readonly #running = new Set<Promise<void>>()
  readonly #slots = new FairSemaphore(portionsAtOnce)
  readonly #election: LeaderElection
  #claiming: Promise<void> = Promise.resolve()
  #isClaiming = false
  #again = false
  #stopped = false
  #cancelPoll: () => void = () => {}

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#fanout = new Fanout(options)
    this.#election = new LeaderElection({ ...options, name: 'dispatching', elected: () => this.#wake() })
    this.#unsubscribe = options.engine.bus.subscribe(eventTopic, () => {
      this.#wake()
      return undefined
    })
  }

  /** Begins to look for events. */
  start(): void {
    this.#election.start()
    this.#poll()
  }

  /** Resolves when nothing is dispatched any more; what is left goes on at the next start. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#unsubscribe()
    this.#cancelPoll()
    await this.#claiming
    await Promise.all(this.#running)
    await this.#release()
    await this.#election.stop()
  }

  /** What has not had its turn is due at once, for whoever goes on with it. */
  async #release(): Promise<void> {
    const { queue } = this.#options.engine
    // Without this it is due at the end of its lease.
    const released = [...this.#held.values()].map(({ token }) => queue.retry(token, 0, '').catch(() => false))
    await Promise.all(released)
  }

  #poll(): void {
    this.#wake()
    this.#cancelPoll = this.#options.clock.after(pollMs, () => this.#poll())
  }

  #wake(): void {
    if (this.#stopped || !this.#election.isLeader) return
    this.#again = true
    if (this.#isClaiming) return
    this.#isClaiming = true
    this.#claiming = this.#claim()
  }

  async #claim(): Promise<void> {
    const { engine, log } = this.#options
    try {
      while (this.#again && !this.#stopped && this.#election.isLeader) {
        this.#again = false
        const jobs = await engine.queue.claim(eventQueue, this.#free(), leaseMs)
        this.#again ||= jobs.length > 0
        this.#take((await mapInSlices(jobs, (job) => this.#read(job))).flatMap((each) => each ?? []))
      }
    } catch (err) {
      log.warn({ err }, 'events cannot be claimed; it is tried again')
    }
    // In the same turn in which nobody was found to have asked again: whoever asks now begins anew.
    this.#isClaiming = false
  }

  /** How many may be claimed; who is done with some asks again. */
  #free(): number {
    if (this.#heldBytes >= heldMax.bytes) return 0
    return Math.min(atOnceMax, heldMax.events - this.#held.size)
  }

  /** Null for a malformed one: it becomes a dead letter. */
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
      // Its lease has ended before its turn has come.
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

  /** What comes meanwhile goes with the next portion. */
  async #dispatchAll(name: string, line: WaitingEvent[]): Promise<void> {
    // The rest of what was claimed goes with the first.
    await Promise.resolve()
    while (line.length > 0 && !this.#stopped)
      await this.#slots.run(name, () => this.#dispatch(line.splice(0, portionOf(line))))
    this.#lines.delete(name)
  }

  /** What fails comes again at the end of its lease. */
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
      this.#options.log.warn({ err }, 'events cannot be dispatched; it is tried again')
    }
    const wasFull = this.#free() === 0
    for (const { jobId } of portion) this.#held.delete(jobId)
    this.#heldBytes -= bytes
    if (wasFull) this.#wake()
  }
}

/** How many of the first ones go together; at least 1. */
function portionOf(line: readonly WaitingEvent[]): number {
  const first = line.slice(0, portionMax.events)
  let bytes = 0
  const end = first.findIndex((each) => {
    bytes += each.bytes
    return bytes > portionMax.bytes
  })
  return end === -1 ? first.length : Math.max(1, end)
}
