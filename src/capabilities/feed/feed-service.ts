import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../core/base/clock.ts'
import type { Log } from '../../core/base/log.ts'
import type { OrganizationStore } from '../../core/directory/organizations/organization-store.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { DocumentAddress, Tenant } from '../../core/model/address.ts'
import type { Version } from '../../core/model/version.ts'
import type { Engine } from '../../core/store/engine.ts'
import type { FeedConfig } from '../subscriptions/feed-config.ts'
import type { FeedConfigService } from '../subscriptions/feed-config-service.ts'
import { readUpdatesBetween } from './editor-change.ts'
import { type FeedFilter, type FeedPage, FeedReader, type FeedStart, isFeedOff } from './feed-reader.ts'
import { FeedRemoval } from './feed-removal.ts'
import { FeedStore } from './feed-store.ts'
import { FeedSweeper } from './feed-sweeper.ts'
import { FeedWaiters } from './feed-waiters.ts'
import { FeedWriter } from './feed-writer.ts'

interface FeedServiceOptions {
  readonly engine: Pick<Engine, 'kv' | 'bus' | 'queue' | 'log'>
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'feedEvents' | 'feedReaders'>
  readonly organizations: OrganizationStore
  readonly removal: FeedRemoval
  readonly configs: FeedConfigService
  readonly subscriptions: {
    feedOf(tenant: Tenant): Promise<FeedConfig>
    /** Maximum time in ms for which another node uses an outdated configuration. */
    readonly outdatedMs: number
  }
  /** Aborted when nothing may wait for events any more. */
  readonly stopping: AbortSignal
}

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

/** Creates the part of the feed that removes data. */
export const createFeedRemoval = (engine: Pick<Engine, 'kv' | 'bus'>, clock: Clock): FeedRemoval =>
  new FeedRemoval(new FeedStore(engine), clock)

/** The change feeds of API keys. */
export class FeedService {
  readonly writer: FeedWriter
  readonly #options: FeedServiceOptions
  readonly #store: FeedStore
  readonly #reader: FeedReader
  readonly #waiters: FeedWaiters
  readonly #sweeper: FeedSweeper

  constructor(options: FeedServiceOptions) {
    this.#options = options
    const store = new FeedStore(options.engine)
    this.#store = store
    this.#reader = new FeedReader(store)
    this.#waiters = new FeedWaiters({ ...options, bus: options.engine.bus })
    this.#sweeper = new FeedSweeper({ ...options, store })
    this.writer = new FeedWriter({ ...options, store })
  }

  /** Starts to remove old events. */
  start(): void {
    this.#sweeper.start()
  }

  stop(): Promise<void> {
    return this.#sweeper.stop()
  }

  config(tenant: Tenant): Promise<FeedConfig> {
    return this.#options.configs.read(tenant)
  }

  /**
   * Changes the configuration of a feed. A feed that is turned off loses its events. If a feed is turned on, resolves
   * when all nodes record its events: in a cluster, up to 5 s later.
   */
  async configure(tenant: Tenant, change: Partial<FeedConfig>): Promise<FeedConfig> {
    const { configs, clock } = this.#options
    const before = await configs.read(tenant)
    if (change.enabled === true) await this.#store.begin(tenant, async () => {})
    const config = await configs.update(tenant, change)
    if (!config.enabled) await this.#store.end(tenant, clock.now())
    if (config.enabled && !before.enabled) await this.#untilAllNodesKnow()
    return config
  }

  /** Waits until no node uses a configuration that was read before. The notice to the nodes may be lost. */
  async #untilAllNodesKnow(): Promise<void> {
    const { engine, clock, subscriptions, stopping } = this.#options
    if (engine.log.hasOneWriter) return
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
    return this.#waiters.admit(tenant, () => this.#nextPage(tenant, query, waitMs))
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
    const ended = AbortSignal.any([left, this.#options.stopping])
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

  /** Returns the updates between two versions of an editor; see `readUpdatesBetween`. */
  updatesBetween(
    address: DocumentAddress,
    range: { readonly since: Version | null; readonly until: Version },
    bytesMax: number,
  ): Promise<readonly Uint8Array[] | null> {
    return readUpdatesBetween(this.#options.engine.log, address, range, bytesMax)
  }

  /** Reads a page. A feed that is configured to be on, but has no records, begins: its store was restored. */
  async #read(tenant: Tenant, query: FeedQuery, start: FeedStart): Promise<FeedPage> {
    const read = () => this.#reader.read(tenant, query, start, query.limit)
    try {
      return await read()
    } catch (error) {
      if (!isFeedOff(error) || !(await this.config(tenant)).enabled) throw error
    }
    await this.#store.begin(tenant, async () => {})
    // The feed may have been turned off meanwhile.
    if (!(await this.config(tenant)).enabled) await this.#store.end(tenant, this.#options.clock.now())
    return read()
  }

  async #nextPage(tenant: Tenant, query: FeedQuery, waitMs: number, left?: AbortSignal): Promise<FeedPage> {
    const { clock } = this.#options
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
