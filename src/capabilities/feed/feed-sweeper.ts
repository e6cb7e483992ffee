import type { Clock } from '../../core/base/clock.ts'
import type { Log } from '../../core/base/log.ts'
import { type HeldLease, JobConsumer, type JobDisposition } from '../../core/jobs/job-consumer.ts'
import type { Tenant } from '../../core/model/address.ts'
import type { ClaimedJob, Engine } from '../../core/store/engine.ts'
import type { FeedConfig } from '../subscriptions/feed-config.ts'
import { feedOfJob, feedSweepQueue } from './feed-keys.ts'
import type { FeedRemoval } from './feed-removal.ts'
import type { FeedStore } from './feed-store.ts'

/** Interval in ms at which old events of a feed are removed (10 min). */
export const feedSweepMs = 600_000
/** Maximum number of feeds that are swept concurrently. */
const sweepsAtOnce = 2
/** Maximum number of records that one commit removes from a feed that is off. */
const purgedAtOnce = 500

interface FeedSweeperOptions {
  readonly engine: Pick<Engine, 'queue'>
  readonly clock: Clock
  readonly log: Log
  readonly store: FeedStore
  readonly removal: FeedRemoval
  readonly subscriptions: { feedOf(tenant: Tenant): Promise<FeedConfig> }
}

/** Removes old events of feeds, and all records of feeds that are off. */
export class FeedSweeper {
  readonly #options: FeedSweeperOptions
  readonly #consumer: JobConsumer
  #isStopped = false

  constructor(options: FeedSweeperOptions) {
    this.#options = options
    const { engine, clock, log } = options
    this.#consumer = new JobConsumer({
      queue: engine.queue,
      name: feedSweepQueue,
      clock,
      log,
      atOnce: sweepsAtOnce,
      carryOut: (job, lease) => this.#sweep(job, lease),
    })
  }

  start(): void {
    this.#consumer.start()
  }

  /** Resolves when no sweep runs any more. The next start continues with the remaining events. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#consumer.stop()
  }

  async #sweep({ payload }: ClaimedJob, lease: HeldLease): Promise<JobDisposition> {
    const { subscriptions, store, removal, clock } = this.#options
    const tenant = feedOfJob(payload)
    const goOn = async (): Promise<void> => {
      if (!lease.isHeld || this.#isStopped) throw new Error('the server is stopping')
    }
    const config = await subscriptions.feedOf(tenant)
    if (config.enabled) {
      const isLeft = await removal.sweep(tenant, clock.now() - config.keepSeconds * 1000, goOn)
      return isLeft ? { againAfterMs: feedSweepMs } : 'done'
    }
    while (await store.purge(tenant, purgedAtOnce)) await goOn()
    return 'done'
  }
}
