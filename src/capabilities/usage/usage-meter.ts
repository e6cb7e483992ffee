import { setImmediate as nextTick } from 'node:timers/promises'
import type { Clock } from '../../core/base/clock.ts'
import type { Log } from '../../core/base/log.ts'
import type { OrganizationScope } from '../../core/directory/organizations/organization-keys.ts'
import type { StorageQuota } from '../../core/directory/storage-quota.ts'
import type { Kv } from '../../core/store/engine.ts'
import { encodeRecord } from '../../core/store/stored-record.ts'
import { msPerHour, usagePart } from './usage-records.ts'
import { type CountedHour, type UsageCounter, WorkspaceUsage } from './workspace-usage.ts'

/** Interval in ms at which the counts are stored. A crash loses the counts of this time at most. */
const writeEveryMs = 60_000
/** Minimum time in ms between two measurements of the stored bytes of a workspace. */
const measureEveryMs = 1_800_000
/** Maximum number of records in one commit. */
const recordsPerCommit = 500
/** Number of counters after which the end of an hour yields to other work. */
const countersPerTick = 500

interface UsageMeterOptions {
  readonly node: string
  /** Unique id of this process. */
  readonly writer: string
  readonly kv: Pick<Kv, 'commit'>
  readonly storage: Pick<StorageQuota, 'measured'>
  readonly clock: Clock
  readonly log: Log
}

interface MeteredWorkspace {
  readonly usage: WorkspaceUsage
  /** The hour that `usage` counts. For some ticks after the end of an hour, it can be the one before the current hour. */
  hour: CountedHour
  /** Time of the next measurement of the stored bytes, in epoch milliseconds. */
  measureAt: number
  /** Resolves when no write of the workspace is in progress. Never rejects. */
  writing: Promise<void>
}

/**
 * Counts the usage of workspaces and organizations on this node, by hour (UTC).
 *
 * Each process has its own records, and writes the whole counts of the current hour. Therefore a repeated
 * write changes nothing, also after an unknown outcome. Nodes do not conflict, and readers add up the records.
 */
export class UsageMeter {
  readonly #options: UsageMeterOptions
  readonly #workspaces = new Map<string, MeteredWorkspace>()
  /** The current hour. It goes back only if the clock is more than an hour behind its start. */
  #hour: CountedHour
  /** Number of times that the hour went back. */
  #returns = 0
  #cancel: (() => void) | null = null
  #writing: Promise<void> = Promise.resolve()
  readonly #now: () => number

  constructor(options: UsageMeterOptions) {
    this.#options = options
    const { clock, writer } = options
    this.#hour = { start: startOfHour(clock.now()), writer }
    this.#now = () => {
      const now = clock.now()
      const { start } = this.#hour
      if (now >= start + msPerHour) this.#startHour(startOfHour(now))
      else if (now < start - msPerHour) this.#returnTo(now)
      return now
    }
  }

  start(): void {
    this.#schedule()
  }

  /** Returns the counter of an organization. The caller must release it. */
  hold(scope: OrganizationScope): UsageCounter {
    return this.#usageOf(scope.workspaceId).counterOf(scope).hold()
  }

  /** Returns the counter for usage of a workspace that belongs to no organization. The caller must release it. */
  holdRest(workspaceId: string): UsageCounter {
    return this.#usageOf(workspaceId).rest.hold()
  }

  /**
   * Stores the counts of a workspace. Resolves when they are durable.
   * @throws StoreUnavailableError
   */
  async write(workspaceId: string): Promise<void> {
    const workspace = this.#workspaces.get(workspaceId)
    if (workspace === undefined) return
    await this.#measure(workspaceId, workspace)
    await this.#writeNow(workspaceId, workspace)
  }

  /** Stores all counts. Later counts are lost. Never rejects. */
  async stop(): Promise<void> {
    this.#cancel?.()
    this.#cancel = null
    await this.#writing
    await this.#writeAll('without measurements')
  }

  #usageOf(workspaceId: string): WorkspaceUsage {
    this.#nowIn(workspaceId)
    const known = this.#workspaces.get(workspaceId)
    if (known !== undefined) return known.usage
    const usage = new WorkspaceUsage(this.#options.node, () => this.#nowIn(workspaceId))
    this.#workspaces.set(workspaceId, { usage, hour: this.#hour, measureAt: 0, writing: Promise.resolve() })
    return usage
  }

  /** Returns the time, and first ends the hour of the workspace if the current one is later. */
  #nowIn(workspaceId: string): number {
    const now = this.#now()
    const workspace = this.#workspaces.get(workspaceId)
    if (workspace !== undefined) this.#endHour(workspace)
    return now
  }

  /** Ends the current hour. The next write stores its final counts. */
  #startHour(start: number): void {
    this.#endHours()
    this.#hour = { start, writer: this.#hour.writer }
    void this.#endHoursInSlices()
  }

  /**
   * Ends the hour of all workspaces, some in each tick. A workspace that is used or stored meanwhile ends its hour
   * before that. Never rejects.
   */
  async #endHoursInSlices(): Promise<void> {
    const hour = this.#hour
    let left = countersPerTick
    for (const workspace of this.#workspaces.values()) {
      if (left <= 0) {
        await nextTick()
        left = countersPerTick
      }
      // The code that has ended the hour has also ended it in all workspaces.
      if (this.#hour !== hour) return
      left -= workspace.usage.counters
      this.#endHour(workspace)
    }
  }

  /** Ends the hour of the workspaces that still count the hour before the current one. */
  #endHours(): void {
    for (const workspace of this.#workspaces.values()) this.#endHour(workspace)
  }

  #endHour(workspace: MeteredWorkspace): void {
    if (workspace.hour === this.#hour) return
    workspace.usage.end(workspace.hour, this.#hour.start)
    workspace.hour = this.#hour
  }

  /**
   * Ends the current hour, because the clock was set back to `now`. The process may already have records of
   * the hour that is counted next. Therefore its counts are stored as those of another process.
   */
  #returnTo(now: number): void {
    this.#endHours()
    const ended = this.#hour
    this.#returns += 1
    this.#hour = { start: startOfHour(now), writer: `${this.#options.writer} ${this.#returns}` }
    for (const workspace of this.#workspaces.values()) {
      workspace.usage.endAtReturn(ended, now)
      workspace.hour = this.#hour
      workspace.measureAt = 0
    }
  }

  /** Schedules the next write, at the latest for the end of the hour. */
  #schedule(): void {
    const { clock } = this.#options
    const leftMs = this.#hour.start + msPerHour - clock.now()
    const waitMs = leftMs > 0 ? Math.min(writeEveryMs, leftMs) : writeEveryMs
    this.#cancel = clock.after(waitMs, () => {
      this.#now()
      this.#writing = this.#writing.then(() => this.#writeAll())
      this.#schedule()
    })
  }

  async #writeAll(how?: 'without measurements'): Promise<void> {
    this.#now()
    for (const [workspaceId, workspace] of this.#workspaces) {
      try {
        if (how === undefined) await this.#measure(workspaceId, workspace)
        await this.#writeNow(workspaceId, workspace)
        if (workspace.usage.isIdle) this.#workspaces.delete(workspaceId)
      } catch (err) {
        this.#options.log.warn({ event: 'usage.write_failed', err }, 'could not store the usage; retrying')
        return
      }
    }
  }

  /** Measures the stored bytes if the last measurement is old. */
  async #measure(workspaceId: string, workspace: MeteredWorkspace): Promise<void> {
    const { clock, storage } = this.#options
    if (clock.now() < workspace.measureAt) return
    workspace.measureAt = clock.now() + measureEveryMs
    const measured = await storage.measured(workspaceId)
    if (measured !== null) workspace.usage.measured(measured.storedBytes, this.#nowIn(workspaceId))
  }

  /** Writes one after the other, because a database may store writes in another order. */
  #writeNow(workspaceId: string, workspace: MeteredWorkspace): Promise<void> {
    const written = workspace.writing.then(() => this.#commit(workspaceId, workspace))
    workspace.writing = written.catch(() => {})
    return written
  }

  async #commit(workspaceId: string, workspace: MeteredWorkspace): Promise<void> {
    const now = this.#now()
    this.#endHour(workspace)
    const { usage, hour } = workspace
    const records = usage.unwritten(hour, now)
    for (let at = 0; at < records.length; at += recordsPerCommit) {
      const some = records.slice(at, at + recordsPerCommit)
      const puts = some.map(({ key, record }) => ({ key, value: encodeRecord(record) }))
      await this.#options.kv.commit(usagePart(workspaceId), { puts })
      // If the hour has ended meanwhile, the next write stores its final records, possibly again.
      if (workspace.hour === hour) usage.wrote(some)
      // A store in memory commits within one tick.
      await nextTick()
    }
  }
}

const startOfHour = (at: number): number => at - (at % msPerHour)
