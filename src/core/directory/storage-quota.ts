import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../base/clock.ts'
import type { ApiError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { exhausted } from '../quota/limits.ts'
import type { Blobs, DocumentLog, Engine, StoredUnder } from '../store/engine.ts'
import type { TenantStore } from './tenants/tenant-store.ts'
import { type LimitedWorkspace, WorkspaceLimits } from './workspace-limits.ts'

/**
 * Interval in ms at which an active workspace is measured. A workspace that has reached its limit is measured whenever
 * its limit is read.
 */
const measureEveryMs = 60_000
/** Minimum interval in ms between two measurements of a workspace without a limit. */
const measureUnlimitedEveryMs = 300_000
/**
 * Maximum share of the time that is spent on measurements. Does not apply to workspaces that have reached
 * their limit.
 */
const measureShare = 0.01
/** Time in ms after which an accepted update is stored, unless the disk stalls. */
const settleMs = 1_000
/** Number of seconds after which a rejected caller may retry. */
const retryAfterSeconds = 60

interface StorageQuotaOptions {
  readonly engine: Pick<Engine, 'storedBytes'>
  readonly tenants: TenantStore
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'workspacesFull'>
  /** Limit in bytes of workspaces that have no limit of their own. 0: unlimited. */
  readonly bytesMax: number
}

/** Usage and limit of a workspace, in bytes. */
interface StorageUsage {
  readonly storedBytes: number
  readonly storedBytesMax: number
}

interface Account extends LimitedWorkspace {
  /** Limit of the workspace in bytes; 0: unlimited. */
  bytesMax: number
  measuredBytes: number
  /** Bytes that this node has accepted since the start of the last measurement. */
  addedBytes: number
  measureAt: number
}

/**
 * The storage quota of workspaces. The usage of a workspace is an estimate of the store
 * (`Engine.storedBytes`) plus the bytes of updates, versions and records that this node has stored since that estimate.
 * Bytes that other nodes accept count only from the next measurement on. A workspace without a limit is
 * measured only when a caller requests its usage.
 */
export class StorageQuota extends WorkspaceLimits<Account> {
  readonly #options: StorageQuotaOptions
  /** Ids of workspaces that have reached their limit. */
  readonly #full = new Set<string>()

  constructor(options: StorageQuotaOptions) {
    super(options.clock)
    this.#options = options
  }

  /** Returns the engine, which then counts the updates and the contents of versions that it stores. */
  counting(engine: Engine): Engine {
    const { log, blobs } = engine
    const append: DocumentLog['append'] = (doc, to, updates, options) => {
      const appended = log.append(doc, to, updates, options)
      const [workspaceId = ''] = doc
      const bytes = updates.reduce((sum, update) => sum + update.bytes.length, 0)
      appended.then(
        () => this.added(workspaceId, bytes),
        () => undefined,
      )
      return appended
    }
    const put: Blobs['put'] = async (key, bytes) => {
      await blobs.put(key, bytes)
      const [, workspaceId = ''] = key
      this.added(workspaceId, bytes.length)
    }
    return { ...engine, log: withMethod(log, 'append', append), blobs: withMethod(blobs, 'put', put) }
  }

  /** Counts stored bytes. */
  added(workspaceId: string, bytes: number): void {
    const account = this.workspace(workspaceId)
    account.addedBytes += bytes
    if (isFull(account)) this.#showFull(workspaceId, true)
  }

  /**
   * Returns the limit in bytes if the workspace has reached it; otherwise returns null. Does not wait for a
   * measurement in progress, so that it is null before `ready`.
   */
  fullAt(workspaceId: string): number | null {
    const account = this.workspace(workspaceId)
    return isFull(account) ? account.bytesMax : null
  }

  /** Returns a RESOURCE_EXHAUSTED error if the workspace has reached its limit; otherwise null. */
  async errorIfFull(workspaceId: string): Promise<ApiError | null> {
    await this.ready(workspaceId)
    const account = this.workspace(workspaceId)
    if (!isFull(account)) return null
    return exhausted('maxStoredBytesPerWorkspace', account.bytesMax, {
      problem: fullMessage(account.bytesMax),
      remedy: 'delete something first',
      retryAfterSeconds,
    })
  }

  /** Returns the usage and the limit of a workspace. Returns null if the workspace has no limit. */
  async usage(workspaceId: string): Promise<StorageUsage | null> {
    const account = this.workspace(workspaceId)
    await account.reading
    const { bytesMax, measuredBytes, addedBytes } = account
    return bytesMax === 0 ? null : { storedBytes: measuredBytes + addedBytes, storedBytesMax: bytesMax }
  }

  /**
   * Returns the usage and the limit of a workspace; a limit of 0 means unlimited. Measures a workspace without
   * a limit, at most once in 5 minutes. Returns null if the workspace could not be measured.
   */
  async measured(workspaceId: string): Promise<StorageUsage | null> {
    const account = this.workspace(workspaceId)
    await account.reading
    if (account.bytesMax === 0 && this.#options.clock.now() >= account.measureAt) {
      account.reading ??= this.#measureUnlimited(workspaceId, account)
      await account.reading
    }
    const { bytesMax, measuredBytes, addedBytes, measureAt } = account
    return measureAt === 0 ? null : { storedBytes: measuredBytes + addedBytes, storedBytesMax: bytesMax }
  }

  /**
   * Discards the usage and the limit of a workspace, then reads and measures them again. Call this method
   * when the limit has changed.
   */
  override forget(workspaceId: string): void {
    this.evict(workspaceId)
    this.workspace(workspaceId)
  }

  protected override evict(workspaceId: string): void {
    super.evict(workspaceId)
    this.#showFull(workspaceId, false)
  }

  #showFull(workspaceId: string, isFullNow: boolean): void {
    if (isFullNow) this.#full.add(workspaceId)
    else this.#full.delete(workspaceId)
    this.#options.metrics.workspacesFull.set(this.#full.size)
  }

  protected created(): Account {
    return { bytesMax: 0, measuredBytes: 0, addedBytes: 0, readAt: 0, measureAt: 0, reading: null }
  }

  protected async read(workspaceId: string, account: Account): Promise<void> {
    const { tenants, clock, log, bytesMax } = this.#options
    try {
      account.bytesMax = (await tenants.workspace(workspaceId))?.storedBytesMax ?? bytesMax
      if (account.bytesMax > 0 && (isFull(account) || clock.now() >= account.measureAt))
        await this.#measure(workspaceId, account)
    } catch (err) {
      log.warn(
        { event: 'storage_quota.measurement_failed', err, workspaceId },
        'could not measure the stored bytes of a workspace; retrying',
      )
    } finally {
      if (this.workspaces.get(workspaceId) === account) this.#showFull(workspaceId, isFull(account))
    }
  }

  async #measure(workspaceId: string, account: Account): Promise<void> {
    const isFirst = account.measureAt === 0
    // Bytes that were accepted during the last `settleMs` may not be stored yet. Therefore the measurement
    // starts after `settleMs`, and bytes that are accepted during this time also count until the next
    // measurement.
    const settledBytes = isFirst ? 0 : account.addedBytes
    if (!isFirst) await sleep(settleMs)
    await this.#measureStore(workspaceId, account, settledBytes, measureEveryMs)
  }

  /** Measures a workspace without a limit. Never rejects. */
  async #measureUnlimited(workspaceId: string, account: Account): Promise<void> {
    try {
      await this.#measureStore(workspaceId, account, account.addedBytes, measureUnlimitedEveryMs)
    } catch (err) {
      this.#options.log.warn(
        { event: 'storage_quota.measurement_failed', err, workspaceId },
        'could not measure the stored bytes of a workspace; retrying',
      )
    } finally {
      account.reading = null
    }
  }

  /** @param settledBytes bytes of `addedBytes` that are part of the new measurement */
  async #measureStore(
    workspaceId: string,
    account: Account,
    settledBytes: number,
    everyMs: number,
  ): Promise<void> {
    const { engine, clock } = this.#options
    const startedAt = performance.now()
    account.measuredBytes = await engine.storedBytes(keysOf(workspaceId))
    account.addedBytes -= settledBytes
    const restMs = (performance.now() - startedAt) / measureShare
    account.measureAt = clock.now() + Math.max(everyMs, restMs)
  }
}

/** Returns an object that has one other method. The other methods run on the given object. */
const withMethod = <T extends object, Name extends keyof T>(target: T, name: Name, method: T[Name]): T =>
  new Proxy(target, {
    get(_, property) {
      if (property === name) return method
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

const isFull = ({ bytesMax, measuredBytes, addedBytes }: Account): boolean =>
  bytesMax > 0 && measuredBytes + addedBytes >= bytesMax

export const fullMessage = (bytesMax: number): string =>
  `the workspace has reached its storage limit of ${bytesMax} bytes`

/**
 * Returns the keys of the data that counts: documents, versions, replaced content, and the records of organizations and
 * judgments. The logs of deliveries and calls do not count, because they expire.
 */
const keysOf = (workspaceId: string): StoredUnder => ({
  logs: [[workspaceId]],
  blobs: [
    ['versions', workspaceId],
    ['generations', workspaceId],
  ],
  parts: [
    ['tenant', workspaceId],
    ['organization', workspaceId],
    ['memory', 'tenant', workspaceId],
  ],
})
