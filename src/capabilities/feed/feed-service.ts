import { setTimeout as sleep } from 'node:timers/promises'
import { type HeldLease, JobConsumer, type JobDisposition } from '../../core/jobs/job-consumer.ts'
import type { Tenant } from '../../core/model/address.ts'
import type { ClaimedJob } from '../../core/store/engine.ts'
import type { FeedConfig } from '../webhooks/webhook-records.ts'
import { type FeedFilter, type FeedPage, FeedReader, type FeedStart, isFeedOff } from './feed-reader.ts'
import { feedOfJob, feedSweepMs, feedSweepQueue } from './feed-records.ts'
import { FeedStore, type ServicesOfFeed } from './feed-store.ts'
import { FeedWaiters } from './feed-waiters.ts'
import { FeedWriter } from './feed-writer.ts'

/** Maximum number of feeds that are swept concurrently. */
const sweepsAtOnce = 2
/** Maximum number of records that one commit removes from a feed that is off. */
const purgedAtOnce = 500

/** The request of a reader. */
export interface FeedQuery extends FeedFilter {
  readonly start: FeedStart
  /** Maximum number of events in one page. */
  readonly limit: number
}

interface FollowOptions<Prepared> {
  readonly quietMs: number
  /** Aborted when the reader leaves. */
  readonly left: AbortSignal
  /** Counts a page. Returns the milliseconds to wait before the next page is read. */
  readonly charge: (page: FeedPage) => number
  /** Prepares a page. The next page starts after the cursor of the result. */
  readonly prepare: (page: FeedPage) => Promise<Prepared>
}

/** The change feeds of API keys. */
export class FeedService {
  readonly writer: FeedWriter
  readonly #services: ServicesOfFeed
  readonly #store: FeedStore
  readonly #reader: FeedReader
  readonly #waiters: FeedWaiters
  readonly #sweeps: JobConsumer
  #isStopped = false

  constructor(services: ServicesOfFeed) {
    this.#services = services
    const { engine, clock, log } = services
    this.#store = new FeedStore(engine)
    this.#reader = new FeedReader(this.#store)
    this.#waiters = new FeedWaiters(services)
    this.#sweeps = new JobConsumer({
      queue: engine.queue,
      name: feedSweepQueue,
      clock,
      log,
      atOnce: sweepsAtOnce,
      carryOut: (job, lease) => this.#sweep(job, lease),
    })
    this.writer = new FeedWriter(services, this.#store)
  }

  /** Starts to remove old events. */
  start(): void {
    this.#sweeps.start()
  }

  /** Resolves when no sweep runs any more. The next start continues with the remaining events. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#sweeps.stop()
  }

  config(tenant: Tenant): Promise<FeedConfig> {
    return this.#services.webhookConfigs.feed(tenant)
  }

  /**
   * Changes the configuration of a feed. A feed that is turned off loses its events. If a feed is turned on, resolves
   * when all nodes record its events: in a cluster, up to 5 s later.
   */
  async configure(tenant: Tenant, change: Partial<FeedConfig>): Promise<FeedConfig> {
    const { webhookConfigs, clock } = this.#services
    const before = await webhookConfigs.feed(tenant)
    if (change.enabled === true) await this.#store.begin(tenant)
    const config = await webhookConfigs.updateFeed(tenant, change)
    if (!config.enabled) await this.#store.end(tenant, clock.now())
    if (config.enabled && !before.enabled) await this.#untilAllNodesKnow()
    return config
  }

  /** Waits until no node uses a configuration that was read before. The notice to the nodes may be lost. */
  async #untilAllNodesKnow(): Promise<void> {
    const { engine, clock, subscriptions, stopping } = this.#services
    if (engine.cluster.nodes().length === 1) return
    await new Promise<void>((resolve) => {
      const cancel = clock.after(subscriptions.outdatedMs, resolve)
      stopping.addEventListener(
        'abort',
        () => {
          cancel()
          resolve()
        },
        { once: true },
      )
    })
  }

  /**
   * Reads the next events. Waits up to `waitMs` for the first one.
   * @throws the errors of `FeedReader.read`; RESOURCE_EXHAUSTED if too many readers wait
   */
  async page(tenant: Tenant, query: FeedQuery, waitMs: number): Promise<FeedPage> {
    if (waitMs === 0) return this.#read(tenant, query, query.start)
    const leave = this.#waiters.enter(tenant)
    try {
      return await this.#nextPage(tenant, query, waitMs)
    } finally {
      leave()
    }
  }

  /**
   * Yields the pages of a feed as they are read, and null each time no event has come for `quietMs`; the first one
   * immediately. Reads a page only when the previous one was taken. Ends when the server stops or the reader leaves.
   * @throws like `page`; the errors of `prepare`
   */
  async *follow<Prepared extends { readonly cursor: string }>(
    tenant: Tenant,
    query: FeedQuery,
    { quietMs, left, charge, prepare }: FollowOptions<Prepared>,
  ): AsyncGenerator<Prepared | null> {
    const leave = this.#waiters.enter(tenant)
    const ended = AbortSignal.any([left, this.#services.stopping])
    try {
      let waitMs = 0
      for (let { start } = query; !this.#waiters.isStopped && !left.aborted; waitMs = quietMs) {
        const page = await this.#nextPage(tenant, { ...query, start }, waitMs, left)
        const pauseMs = Math.min(charge(page), quietMs)
        const isQuiet = page.events.length === 0 && page.isEnd
        const prepared = isQuiet ? null : await prepare(page)
        start = { cursor: (prepared ?? page).cursor }
        yield prepared
        if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: ended }).catch(() => {})
      }
    } finally {
      leave()
    }
  }

  /** Reads a page. A feed that is configured to be on, but has no records, begins: its store was restored. */
  async #read(tenant: Tenant, query: FeedQuery, start: FeedStart): Promise<FeedPage> {
    const read = () => this.#reader.read(tenant, query, start, query.limit)
    try {
      return await read()
    } catch (error) {
      if (!isFeedOff(error) || !(await this.config(tenant)).enabled) throw error
    }
    await this.#store.begin(tenant)
    // The feed may have been turned off meanwhile.
    if (!(await this.config(tenant)).enabled) await this.#store.end(tenant, this.#services.clock.now())
    return read()
  }

  /** Removes old events of a feed, or all records if the feed is off. */
  async #sweep({ payload }: ClaimedJob, lease: HeldLease): Promise<JobDisposition> {
    const { subscriptions, feedRemoval, clock } = this.#services
    const tenant = feedOfJob(payload)
    const goOn = async (): Promise<void> => {
      if (!lease.isHeld || this.#isStopped) throw new Error('the server is stopping')
    }
    const config = await subscriptions.feedOf(tenant)
    if (config.enabled) {
      const isLeft = await feedRemoval.sweep(tenant, clock.now() - config.keepSeconds * 1000, goOn)
      return isLeft ? { againAfterMs: feedSweepMs } : 'done'
    }
    while (await this.#store.purge(tenant, purgedAtOnce)) await goOn()
    return 'done'
  }

  async #nextPage(tenant: Tenant, query: FeedQuery, waitMs: number, left?: AbortSignal): Promise<FeedPage> {
    const { clock } = this.#services
    const until = clock.now() + waitMs
    let { start } = query
    for (;;) {
      const next = this.#waiters.watch(tenant)
      try {
        const page = await this.#read(tenant, query, start)
        const leftMs = until - clock.now()
        if (
          page.events.length > 0 ||
          !page.isEnd ||
          leftMs <= 0 ||
          this.#waiters.isStopped ||
          left?.aborted === true
        )
          return page
        start = { cursor: page.cursor }
        await next.wait(leftMs, left)
      } finally {
        next.end()
      }
    }
  }
}
