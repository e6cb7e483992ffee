import type { Clock } from '../clock.ts'
import type { OrganizationScope } from '../directory/organizations/organization-keys.ts'
import type { StorageQuota } from '../directory/storage-quota.ts'
import type { Kv } from '../engine/engine.ts'
import type { Log } from '../log.ts'
import type { UsageCounter } from './usage-counter.ts'
import { msPerHour, usagePart } from './usage-records.ts'
import { type UsageWriter, WorkspaceUsage } from './workspace-usage.ts'

/** Interval in ms at which the counts are stored. A crash loses the counts of this time at most. */
const writeEveryMs = 60_000
/** Minimum time in ms between two measurements of the stored bytes of a workspace. */
const measureEveryMs = 1_800_000
/** Maximum number of records in one commit. */
const recordsPerCommit = 500

export interface UsageMeterOptions extends UsageWriter {
  readonly kv: Pick<Kv, 'commit'>
  readonly storage: Pick<StorageQuota, 'measured'>
  readonly clock: Clock
  readonly log: Log
}

interface MeteredWorkspace {
  readonly usage: WorkspaceUsage
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
  /** Start of the current hour, in epoch milliseconds. Does not go back if the clock is set back. */
  #hour: number
  #cancel: (() => void) | null = null
  #writing: Promise<void> = Promise.resolve()
  readonly #now: () => number

  constructor(options: UsageMeterOptions) {
    this.#options = options
    this.#hour = hourOf(options.clock.now())
    this.#now = () => {
      const now = options.clock.now()
      if (now >= this.#hour + msPerHour) this.#startHour(hourOf(now))
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
    this.#now()
    const known = this.#workspaces.get(workspaceId)
    if (known !== undefined) return known.usage
    const usage = new WorkspaceUsage(this.#options, this.#now)
    this.#workspaces.set(workspaceId, { usage, measureAt: 0, writing: Promise.resolve() })
    return usage
  }

  /** Ends the current hour. The next write stores its final counts. */
  #startHour(hour: number): void {
    const ended = this.#hour
    this.#hour = hour
    for (const workspace of this.#workspaces.values()) {
      workspace.usage.restart(ended, hour)
      workspace.measureAt = 0
    }
  }

  /** Schedules the next write, at the latest for the end of the hour. */
  #schedule(): void {
    const { clock } = this.#options
    const leftMs = this.#hour + msPerHour - clock.now()
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
    if (measured !== null) workspace.usage.measured(measured.storedBytes, this.#now())
  }

  /** Writes one after the other, because a database may store writes in another order. */
  #writeNow(workspaceId: string, workspace: MeteredWorkspace): Promise<void> {
    const written = workspace.writing.then(() => this.#commit(workspaceId, workspace.usage))
    workspace.writing = written.catch(() => {})
    return written
  }

  async #commit(workspaceId: string, usage: WorkspaceUsage): Promise<void> {
    this.#now()
    const hour = this.#hour
    const records = usage.unwritten(hour)
    for (let at = 0; at < records.length; at += recordsPerCommit) {
      const some = records.slice(at, at + recordsPerCommit)
      const puts = some.map(({ key, value }) => ({ key, value }))
      await this.#options.kv.commit(usagePart(workspaceId), { puts })
      // If the hour has ended meanwhile, the next write stores its final records, possibly again.
      if (this.#hour === hour) usage.wrote(some)
    }
  }
}

const hourOf = (at: number): number => at - (at % msPerHour)
