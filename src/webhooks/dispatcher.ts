import type { Clock } from '../clock.ts'
import { inSlices } from '../directory/items.ts'
import { findOrganization, type OrganizationStore } from '../directory/organization-store.ts'
import type { Bus, ClaimedJob, Queue } from '../engine/engine.ts'
import { keyName } from '../engine/keys.ts'
import { messageOf } from '../errors.ts'
import { eventQueue, eventTopic, type StoredEvent, storedEventOf } from '../events/outbound.ts'
import type { Log } from '../log.ts'
import { type OrganizationAddress, organizationPrefix, type Tenant } from '../model/address.ts'
import type { Deliveries } from '../subscriptions/deliveries.ts'
import { targetName } from '../subscriptions/delivery-keys.ts'
import { deliveryLimits, type TargetAddress } from '../subscriptions/delivery-records.ts'
import type { DeliveryRemoval } from '../subscriptions/delivery-removal.ts'
import { type Target, targetIdOf } from '../subscriptions/target.ts'

/** Events that are claimed together. */
const atOnceMax = 256
/** Bytes of events that are dispatched together, but for the first one. */
const portionBytes = 524_288
/** The same of what is written at the same time: each target has its own copy. */
const bytesAtOnce = 4_194_304
/** Targets whose messages are written at the same time. */
const linesAtOnceMax = 128
/** An event of a process that has died is dispatched by the next one after this. */
const leaseMs = 10_000
/** How often events are looked for that nobody has told of: those of a process that has died, or failed ones. */
const pollMs = 5_000

export interface DispatcherOptions {
  readonly queue: Queue
  readonly bus: Bus
  readonly clock: Clock
  readonly log: Log
  readonly organizations: OrganizationStore
  readonly deliveries: Deliveries
  readonly removal: DeliveryRemoval
  readonly subscriptions: { targetsOf(tenant: Tenant, event: StoredEvent): Promise<readonly Target[]> }
}

interface Waiting {
  readonly job: ClaimedJob
  readonly event: StoredEvent
}

interface Line {
  readonly address: TargetAddress
  readonly events: Waiting[]
}

/** Makes messages of events: one for each target that is to be told. */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #unsubscribe: () => void
  #dispatching: Promise<void> = Promise.resolve()
  #isDispatching = false
  #again = false
  #stopped = false
  #cancelPoll: () => void = () => {}

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#unsubscribe = options.bus.subscribe(eventTopic, () => {
      this.#wake()
      return undefined
    })
  }

  /** Begins to look for events. */
  start(): void {
    this.#wake()
    this.#cancelPoll = this.#options.clock.after(pollMs, () => this.start())
  }

  /** Resolves when nothing is dispatched any more; what is left goes on at the next start. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#unsubscribe()
    this.#cancelPoll()
    await this.#dispatching
  }

  #wake(): void {
    if (this.#stopped) return
    this.#again = true
    if (this.#isDispatching) return
    this.#isDispatching = true
    this.#dispatching = this.#dispatchAll()
  }

  async #dispatchAll(): Promise<void> {
    const { queue, log } = this.#options
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false
        const jobs = await queue.claim(eventQueue, atOnceMax, leaseMs)
        if (jobs.length === 0) continue
        this.#again = true
        await this.#dispatch(jobs)
      }
    } catch (err) {
      log.warn({ err }, 'events cannot be dispatched; it is tried again')
    }
    // In the same turn in which nobody was found to have asked again: whoever asks now begins anew.
    this.#isDispatching = false
  }

  /** In portions; what waits for its turn stays ours meanwhile. */
  async #dispatch(jobs: readonly ClaimedJob[]): Promise<void> {
    const { queue } = this.#options
    const waiting = (await inSlices(jobs, (job) => this.#read(job))).flatMap((each) => each ?? [])
    for (let rest: readonly Waiting[] = waiting; rest.length > 0 && !this.#stopped; ) {
      const portion = rest.slice(0, countWithin(rest, portionBytes))
      rest = rest.slice(portion.length)
      await this.#dispatchPortion(portion)
      await inSlices(rest, ({ job }) => queue.extend(job.token, leaseMs), atOnceMax)
    }
  }

  /** What comes again after a crash in the middle is in its place already. */
  async #dispatchPortion(portion: readonly Waiting[]): Promise<void> {
    const failed = new Set<Waiting>()
    const lines = await this.#linesOf(portion, failed)
    const linesAtOnce = Math.min(linesAtOnceMax, Math.floor(bytesAtOnce / bytesOf(portion)))
    await inSlices(lines, (line) => this.#enqueue(line, failed), Math.max(1, linesAtOnce))
    await this.#forgetGone(portion, lines)
    await inSlices(
      portion.filter((each) => !failed.has(each)),
      ({ job }) => this.#options.queue.done(job.token),
      atOnceMax,
    )
  }

  async #enqueue({ address, events }: Line, failed: Set<Waiting>): Promise<void> {
    try {
      await this.#options.deliveries.enqueue(
        address,
        events.map(({ event }) => event),
      )
    } catch (err) {
      this.#options.log.warn({ err }, 'events could not be enqueued for a target; it is tried again')
      for (const each of events) failed.add(each)
    }
  }

  /** Null for one that nobody could ever read: it is put aside. */
  async #read(job: ClaimedJob): Promise<Waiting | null> {
    try {
      const event = storedEventOf(job.payload)
      const isTooLarge = job.payload.length > deliveryLimits.eventBytes
      return { job, event: isTooLarge ? { ...event, data: {} } : event }
    } catch (error) {
      this.#options.log.error({ err: error }, 'an event cannot be read; it is put aside')
      await this.#options.queue.bury(job.token, messageOf(error))
      return null
    }
  }

  /** In the order of the events. @param failed gets those of which it cannot be said whom to tell */
  async #linesOf(waiting: readonly Waiting[], failed: Set<Waiting>): Promise<readonly Line[]> {
    const lines = new Map<string, Line>()
    for (const each of waiting) {
      const { workspaceId, apiKey } = each.event.scope
      for (const target of await this.#targetsOf(each, failed)) {
        const address = { workspaceId, apiKey, targetId: targetIdOf(target) }
        const name = targetName(address)
        const line = lines.get(name) ?? { address, events: [] }
        line.events.push(each)
        lines.set(name, line)
      }
    }
    return [...lines.values()]
  }

  /** What is wrong with one API key must not keep the events of others waiting. */
  async #targetsOf(waiting: Waiting, failed: Set<Waiting>): Promise<readonly Target[]> {
    const { workspaceId, apiKey } = waiting.event.scope
    try {
      return await this.#options.subscriptions.targetsOf({ workspaceId, apiKey }, waiting.event)
    } catch (err) {
      this.#options.log.warn(
        { err, workspaceId },
        'nobody can say whom to tell of an event; it is tried again',
      )
      failed.add(waiting)
      return []
    }
  }

  /** An organization is another partition: if its removal has begun meanwhile, it may not have seen the messages. */
  async #forgetGone(waiting: readonly Waiting[], lines: readonly Line[]): Promise<void> {
    const scopes = new Map(
      waiting.map(({ event }) => [keyName(organizationPrefix(event.scope)), event.scope]),
    )
    await inSlices([...scopes.values()], async (scope) => {
      if ((await findOrganization(this.#options.organizations.read(scope))) !== null) return
      await this.#options.removal.forget(scope, targetsIn(scope, lines), async () => {})
    })
  }
}

const bytesOf = (waiting: readonly Waiting[]): number =>
  waiting.reduce((sum, { job }) => sum + job.payload.length, 0)

/** How many of the first ones have no more bytes together; at least 1. */
function countWithin(waiting: readonly Waiting[], bytesMax: number): number {
  let bytes = 0
  const end = waiting.findIndex(({ job }) => {
    bytes += job.payload.length
    return bytes > bytesMax
  })
  return end === -1 ? waiting.length : Math.max(1, end)
}

const targetsIn = ({ workspaceId, apiKey }: OrganizationAddress, lines: readonly Line[]): readonly string[] =>
  lines
    .map(({ address }) => address)
    .filter((address) => address.workspaceId === workspaceId && address.apiKey === apiKey)
    .map(({ targetId }) => targetId)
