import { setMaxListeners } from 'node:events'
import type { Log } from '../../core/base/log.ts'
import { Semaphore } from '../../core/base/semaphore.ts'
import {
  type HeldLease,
  JobConsumer,
  type JobConsumerOptions,
  type JobDisposition,
} from '../../core/jobs/job-consumer.ts'
import type { OutgoingRequest } from '../../core/outgoing/checked-sender.ts'
import type { Bus, ClaimedJob, Cluster, Queue } from '../../core/store/engine.ts'
import {
  deliveryTopic,
  retryQueue,
  serveQueue,
  sweepQueue,
  targetOf,
} from '../subscriptions/deliveries/delivery-keys.ts'
import type { TargetAddress } from '../subscriptions/deliveries/delivery-records.ts'
import type { DeliveryRemoval } from '../subscriptions/deliveries/delivery-removal.ts'
import { type DeliveryService, sweepMs } from '../subscriptions/deliveries/delivery-service.ts'
import { BacklogGauge } from './backlog-gauge.ts'
import type { AttemptOutcome } from './delivery-attempt.ts'
import type { RetryRuleDependencies } from './retry-policy.ts'
import { type SendResult, TargetSender, type TargetSenderOptions } from './target-sender.ts'

/**
 * Maximum number of targets that are claimed in advance. Claiming in advance is necessary to share the slots
 * fairly between workspaces.
 */
const claimedMax = 1_000
/**
 * Maximum number of targets that are served concurrently, in total and for one workspace. One API key always
 * has fewer targets than `each`. Targets whose last attempt failed have the same number of separate slots, so
 * that receivers that hang take no slot from receivers that respond.
 */
const atOnce = { total: 256, each: 128 }
/**
 * Maximum number of targets of one workspace that wait for a slot. Further targets are put back into the
 * queue, so that targets of other workspaces can be claimed.
 */
const waitingMax = 64
/**
 * Delay in ms after which a target that was put back can be claimed again. The delay is longer for failing
 * targets, because there may be many of them and serving them is mostly useless.
 */
const putBackMs = { answering: 1_000, failing: 5_000 }
/**
 * Upper bounds in ms for the random delay between a notice of new work and the claim. All nodes receive the
 * notice at the same time. The delay is at most `lookWithinMsPerNode` for each other node, and at most
 * `lookWithinMs` in total.
 */
const lookWithinMsPerNode = 25
const lookWithinMs = 50
/** Maximum number of concurrent jobs that only enqueue other jobs. */
const retriesAtOnce = 64
/** Polling interval in ms for due retries. The shortest delay of a retry is 5 s, with 10% jitter. */
const retryPollMs = 1_000
const sweepsAtOnce = 4

interface DeliveryWorkerOptions extends Omit<TargetSenderOptions, 'attempt'>, RetryRuleDependencies {
  readonly queue: Queue
  readonly bus: Bus
  readonly cluster: Pick<Cluster, 'nodes'>
  readonly log: Log
  readonly deliveries: DeliveryService
  readonly removal: DeliveryRemoval
  /** Returns whether the endpoint no longer exists. */
  readonly isGone: (address: TargetAddress) => Promise<boolean>
  readonly attempt: (delivery: OutgoingRequest, stop: AbortSignal) => Promise<AttemptOutcome>
  /** Time in ms for which sent messages are kept in the log of their target. */
  readonly keepMs: number
}

type WorkerState =
  | { readonly is: 'created' }
  | { readonly is: 'sending' }
  /** A notice has arrived. A claim follows after a random delay. */
  | { readonly is: 'sending, claim due'; readonly cancelClaim: () => void }
  | { readonly is: 'stopped' }

/** Sends messages to many targets concurrently. Only one process at a time serves a target. */
export class DeliveryWorker {
  readonly #options: DeliveryWorkerOptions
  readonly #senderOptions: TargetSenderOptions
  readonly #slots = { answering: new Semaphore(atOnce), failing: new Semaphore(atOnce) }
  readonly #serving: JobConsumer
  readonly #consumers: readonly JobConsumer[]
  readonly #backlog: BacklogGauge
  readonly #unsubscribe: () => void
  readonly #cut = new AbortController()
  #state: WorkerState = { is: 'created' }

  constructor(options: DeliveryWorkerOptions) {
    this.#options = options
    // Each attempt in progress adds a listener, so their number has no limit.
    setMaxListeners(0, this.#cut.signal)
    const attempt = (delivery: OutgoingRequest) => options.attempt(delivery, this.#cut.signal)
    this.#senderOptions = { ...options, attempt }
    this.#backlog = new BacklogGauge(options.metrics, options.clock)
    this.#serving = this.#consumer({
      name: serveQueue,
      atOnce: claimedMax,
      carryOut: (job, lease) => this.#serve(job, lease),
    })
    this.#consumers = [
      this.#serving,
      this.#consumer({
        name: retryQueue,
        atOnce: retriesAtOnce,
        pollMs: retryPollMs,
        carryOut: (job) => this.#retry(job),
      }),
      this.#consumer({
        name: sweepQueue,
        atOnce: sweepsAtOnce,
        carryOut: (job, lease) => this.#sweep(job, lease),
      }),
    ]
    this.#unsubscribe = options.bus.subscribe(deliveryTopic, () => {
      this.#notified()
      return undefined
    })
  }

  /** Starts to send messages, including those that a crash left behind. */
  start(): void {
    this.#state = { is: 'sending' }
    for (const consumer of this.#consumers) consumer.start()
    this.#backlog.start()
  }

  /**
   * Resolves when nothing is sent any more. Attempts in progress may end within `graceMs`. Attempts that take
   * longer are aborted, and repeated after the next start.
   */
  async stop(graceMs: number): Promise<void> {
    if (this.#state.is === 'sending, claim due') this.#state.cancelClaim()
    this.#state = { is: 'stopped' }
    this.#unsubscribe()
    this.#backlog.stop()
    const disarm = this.#options.clock.after(graceMs, () => this.#cut.abort())
    await Promise.all(this.#consumers.map((consumer) => consumer.stop()))
    disarm()
    // Notifies the other nodes, so that they continue with the targets that were put back.
    this.#options.bus.publish(deliveryTopic, new Uint8Array())
  }

  /** Schedules one claim after a notice. Ignores further notices until this claim. */
  #notified(): void {
    if (this.#state.is !== 'sending') return
    const { clock, cluster, random } = this.#options
    const withinMs = Math.min((cluster.nodes().length - 1) * lookWithinMsPerNode, lookWithinMs)
    if (withinMs === 0) return this.#serving.wake()
    const cancelClaim = clock.after(Math.floor(random() * withinMs), () => {
      this.#state = { is: 'sending' }
      this.#serving.wake()
    })
    this.#state = { is: 'sending, claim due', cancelClaim }
  }

  #consumer(options: Omit<JobConsumerOptions, 'queue' | 'clock' | 'log'>): JobConsumer {
    const { queue, clock, log } = this.#options
    return new JobConsumer({ queue, clock, log, ...options })
  }

  async #serve(job: ClaimedJob, lease: HeldLease): Promise<JobDisposition> {
    const address = targetOf(job.payload)
    const mayGoOn = this.#mayGoOn(lease)
    const { failingSince } = await this.#options.deliveries.state(address)
    const kind = failingSince === null ? 'answering' : 'failing'
    const slots = this.#slots[kind]
    if (slots.waitingOf(address.workspaceId) >= waitingMax) return { againAfterMs: putBackMs[kind] }
    return slots.run(address.workspaceId, async () => {
      if (!mayGoOn()) return { againAfterMs: 0 }
      const served = await TargetSender.serve(this.#senderOptions, address, mayGoOn)
      const then = await this.#then(address, served, mayGoOn)
      this.#backlog.seen(address, await this.#options.deliveries.waiting(address))
      return then
    })
  }

  #mayGoOn(lease: HeldLease): () => boolean {
    return () => lease.isHeld && this.#state.is !== 'stopped'
  }

  async #then(address: TargetAddress, served: SendResult, mayGoOn: () => boolean): Promise<JobDisposition> {
    if (served.kind === 'waits') return { againAfterMs: served.ms }
    if (served.kind === 'empty') return 'done'
    if (await this.#options.isGone(address)) await this.#options.removal.purge(address, goOn(mayGoOn))
    else await this.#fail(address, mayGoOn)
    return 'done'
  }

  /** Marks the waiting messages of a disabled target as failed. Otherwise they would wait indefinitely. */
  async #fail(address: TargetAddress, mayGoOn: () => boolean): Promise<void> {
    const check = goOn(mayGoOn)
    while ((await this.#options.deliveries.failDisabled(address)) > 0) await check()
  }

  async #retry(job: ClaimedJob): Promise<JobDisposition> {
    await this.#options.deliveries.serve(targetOf(job.payload))
    return 'done'
  }

  async #sweep(job: ClaimedJob, lease: HeldLease): Promise<JobDisposition> {
    const { removal, clock, keepMs } = this.#options
    const before = clock.now() - keepMs
    const check = goOn(this.#mayGoOn(lease))
    const isLeft = await removal.sweep(targetOf(job.payload), before, check)
    return isLeft ? { againAfterMs: sweepMs } : 'done'
  }
}

const goOn = (mayGoOn: () => boolean) => async (): Promise<void> => {
  if (!mayGoOn()) throw new Error('the server is stopping')
}
