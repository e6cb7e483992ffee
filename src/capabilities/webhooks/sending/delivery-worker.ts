import { setMaxListeners } from 'node:events'
import { Semaphore } from '../../../core/base/semaphore.ts'
import {
  type HeldLease,
  JobConsumer,
  type JobConsumerOptions,
  type JobDisposition,
} from '../../../core/jobs/job-consumer.ts'
import type { ClaimedJob } from '../../../core/store/engine.ts'
import type { Services } from '../../../rest/services.ts'
import {
  deliveryTopic,
  retryQueue,
  serveQueue,
  sweepQueue,
  targetName,
  targetOf,
} from '../deliveries/delivery-keys.ts'
import type { TargetAddress } from '../deliveries/delivery-records.ts'
import { sweepMs } from '../deliveries/delivery-service.ts'
import { storeTargetIds } from '../webhook-records.ts'
import { AttemptSender } from './delivery-attempt.ts'
import { FailureLog } from './failed-attempts.ts'
import { RequestComposer } from './request-composer.ts'
import { type SendContext, TargetSender } from './target-sender.ts'

/** Interval in ms at which the metrics are updated. */
const showMs = 1_000

/**
 * Metrics of the messages that wait for the targets that this process has served. The numbers of a target are
 * read each time after it was served. After a restart, a target does not count until its next attempt is due.
 */
class BacklogGauge {
  readonly #services: Services
  readonly #waiting = new Map<string, { readonly pending: number; readonly oldestAt: number }>()
  #cancelShow: () => void = () => {}

  constructor(services: Services) {
    this.#services = services
  }

  async update(address: TargetAddress): Promise<void> {
    const name = targetName(address)
    const { pending, oldestAt } = await this.#services.deliveries.waiting(address)
    if (oldestAt === null) this.#waiting.delete(name)
    else this.#waiting.set(name, { pending, oldestAt })
  }

  /** Updates the metrics now and at intervals. */
  start(): void {
    this.#show()
    this.#cancelShow = this.#services.clock.after(showMs, () => this.start())
  }

  stop(): void {
    this.#cancelShow()
  }

  #show(): void {
    const { metrics, clock } = this.#services
    const all = [...this.#waiting.values()]
    const oldest = all.reduce((least, { oldestAt }) => Math.min(least, oldestAt), clock.now())
    metrics.webhookPending.set(all.reduce((sum, { pending }) => sum + pending, 0))
    metrics.webhookOldestPendingSeconds.set((clock.now() - oldest) / 1000)
  }
}

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
 * Maximum of the random delay in ms between a notice of new work and the claim in a cluster, because all nodes receive
 * the notice at the same time.
 */
const claimWithinMs = 50
/** Maximum number of concurrent jobs that only enqueue other jobs. */
const retriesAtOnce = 64
/** Polling interval in ms for due retries. The shortest delay of a retry is 5 s, with 10% jitter. */
const retryPollMs = 1_000
const sweepsAtOnce = 4
const dayMs = 86_400_000

/** Sends messages to many targets concurrently. Only one process at a time serves a target. */
export class DeliveryWorker {
  readonly #services: Services
  readonly #sending: SendContext
  readonly #slots = { answering: new Semaphore(atOnce), failing: new Semaphore(atOnce) }
  readonly #serving: JobConsumer
  readonly #consumers: readonly JobConsumer[]
  readonly #backlog: BacklogGauge
  #unsubscribe: () => void = () => undefined
  readonly #cut = new AbortController()
  #isStopped = false
  /** Whether a claim follows a notice. After the stop, it has no effect. */
  #isClaimDue = false

  /** @param services the deliveries are added to them before the start */
  constructor(services: Services) {
    this.#services = services
    // Each attempt in progress adds a listener, so their number has no limit.
    setMaxListeners(0, this.#cut.signal)
    const { destinations, clock, functions } = services
    this.#sending = {
      services,
      composer: new RequestComposer(services),
      attempts: new AttemptSender({ destinations, clock, receivers: functions?.receivers }),
      failures: new FailureLog(services),
      cut: this.#cut.signal,
    }
    this.#backlog = new BacklogGauge(services)
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
  }

  /** Starts to send messages, including those that a crash left behind. */
  start(): void {
    const { deliveries, engine, metrics } = this.#services
    this.#unsubscribe = engine.bus.subscribe(deliveryTopic, () => this.#notified())
    deliveries.onDropped((address, outcome, messages) => {
      metrics.webhookMessages.inc({ outcome }, messages.length)
      for (const message of messages) this.#sending.failures.dropped(address, message)
    })
    for (const consumer of this.#consumers) consumer.start()
    this.#backlog.start()
  }

  /**
   * Resolves when nothing is sent any more. Attempts in progress may end within `graceMs`. Attempts that take
   * longer are aborted, and repeated after the next start.
   */
  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true
    this.#unsubscribe()
    this.#backlog.stop()
    const disarm = this.#services.clock.after(graceMs, () => this.#cut.abort())
    await Promise.all(this.#consumers.map((consumer) => consumer.stop()))
    disarm()
    // Notifies the other nodes, so that they continue with the targets that were put back.
    this.#services.engine.bus.publish(deliveryTopic, new Uint8Array())
  }

  /** Writes the failures that the log still counts. Call it when neither messages nor events are handled any more. */
  endLog(): void {
    this.#sending.failures.end()
  }

  /** Schedules one claim after a notice. Ignores further notices until this claim. */
  #notified(): void {
    const { clock, engine } = this.#services
    if (engine.cluster.nodes().length === 1) return this.#serving.wake()
    if (this.#isClaimDue) return
    this.#isClaimDue = true
    clock.after(Math.floor(Math.random() * claimWithinMs), () => {
      this.#isClaimDue = false
      this.#serving.wake()
    })
  }

  #consumer(options: Omit<JobConsumerOptions, 'queue' | 'clock' | 'log'>): JobConsumer {
    const { engine, clock, log } = this.#services
    return new JobConsumer({ queue: engine.queue, clock, log, ...options })
  }

  async #serve(job: ClaimedJob, lease: HeldLease): Promise<JobDisposition> {
    const address = targetOf(job.payload)
    const mayGoOn = this.#mayGoOn(lease)
    const { failingSince } = await this.#services.deliveries.state(address)
    const kind = failingSince === null ? 'answering' : 'failing'
    const slots = this.#slots[kind]
    if (slots.waitingOf(address.workspaceId) >= waitingMax) return { againAfterMs: putBackMs[kind] }
    return slots.run(address.workspaceId, async () => {
      if (!mayGoOn()) return { againAfterMs: 0 }
      const served = await new TargetSender(this.#sending, address, mayGoOn).serve()
      if (served.kind === 'closed') await this.#dropWaiting(address, mayGoOn)
      await this.#backlog.update(address)
      // Messages wait for a target that was enabled meanwhile.
      if (served.kind === 'closed' && !(await this.#isOff(address))) return { againAfterMs: 0 }
      return served.kind === 'waits' ? { againAfterMs: served.ms } : 'done'
    })
  }

  #mayGoOn(lease: HeldLease): () => boolean {
    return () => lease.isHeld && !this.#isStopped
  }

  /**
   * Removes the messages of a deleted target. Marks those of a disabled target as failed, because they would wait
   * indefinitely. Ends when the target is on again.
   */
  async #dropWaiting(address: TargetAddress, mayGoOn: () => boolean): Promise<void> {
    const { deliveries, deliveryStore } = this.#services
    const check = goOn(mayGoOn)
    const isOff = () => this.#isOff(address)
    if (storeTargetIds.includes(address.targetId)) return deliveryStore.clear(address, isOff, check)
    if (await deliveryStore.isTargetRemoved(address)) return deliveryStore.purge(address, check)
    while ((await deliveries.failDisabled(address, isOff)) > 0) await check()
  }

  async #isOff(address: TargetAddress): Promise<boolean> {
    return (await this.#services.subscriptions.targetOf(address, address.targetId)) === null
  }

  async #retry(job: ClaimedJob): Promise<JobDisposition> {
    await this.#services.deliveries.serve(targetOf(job.payload))
    return 'done'
  }

  async #sweep(job: ClaimedJob, lease: HeldLease): Promise<JobDisposition> {
    const { deliveryStore, clock, config } = this.#services
    const before = clock.now() - config.webhookLogRetentionDays * dayMs
    const check = goOn(this.#mayGoOn(lease))
    const isLeft = await deliveryStore.sweep(targetOf(job.payload), before, check)
    return isLeft ? { againAfterMs: sweepMs } : 'done'
  }
}

const goOn = (mayGoOn: () => boolean) => async (): Promise<void> => {
  if (!mayGoOn()) throw new Error('the server is stopping')
}
