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

/** Events that are dispatched together. */
const atOnceMax = 256
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

  /** What comes again after a crash in the middle is in its place already. */
  async #dispatch(jobs: readonly ClaimedJob[]): Promise<void> {
    const waiting = (await inSlices(jobs, (job) => this.#read(job))).flatMap((each) => each ?? [])
    const lines = await this.#linesOf(waiting)
    const failed = new Set<Waiting>()
    await inSlices(lines, async ({ address, events }) => {
      try {
        await this.#options.deliveries.enqueue(
          address,
          events.map(({ event }) => event),
        )
      } catch (err) {
        this.#options.log.warn({ err }, 'events could not be enqueued for a target; it is tried again')
        for (const each of events) failed.add(each)
      }
    })
    await this.#forgetGone(waiting, lines)
    await inSlices(
      waiting.filter((each) => !failed.has(each)),
      ({ job }) => this.#options.queue.done(job.token),
    )
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

  /** In the order of the events. */
  async #linesOf(waiting: readonly Waiting[]): Promise<readonly Line[]> {
    const lines = new Map<string, Line>()
    for (const each of waiting) {
      const { workspaceId, apiKey } = each.event.scope
      for (const target of await this.#options.subscriptions.targetsOf({ workspaceId, apiKey }, each.event)) {
        const address = { workspaceId, apiKey, targetId: targetIdOf(target) }
        const name = targetName(address)
        const line = lines.get(name) ?? { address, events: [] }
        line.events.push(each)
        lines.set(name, line)
      }
    }
    return [...lines.values()]
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

const targetsIn = ({ workspaceId, apiKey }: OrganizationAddress, lines: readonly Line[]): readonly string[] =>
  lines
    .map(({ address }) => address)
    .filter((address) => address.workspaceId === workspaceId && address.apiKey === apiKey)
    .map(({ targetId }) => targetId)
