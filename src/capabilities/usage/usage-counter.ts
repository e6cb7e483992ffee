import type { UsageCounts } from '../../core/directory/usage-counts.ts'
import type { OrganizationOfKey, UsageRecord } from './usage-records.ts'

/**
 * Counts the open connections of an organization or a workspace during one hour. All times are in epoch
 * milliseconds.
 */
export class ConnectionCount {
  /** Number of connections that were opened. */
  opened = 0
  /** Maximum number of connections that were open at the same time. */
  peak = 0
  /** Sum of the milliseconds for which the connections were open. */
  openMs = 0
  #open = 0
  /** Time up to which `openMs` is complete. */
  #countedTo: number

  constructor(now: number) {
    this.#countedTo = now
  }

  /** True if a connection is open. */
  get isOpen(): boolean {
    return this.#open > 0
  }

  enter(now: number): void {
    this.advance(now)
    this.opened += 1
    this.#open += 1
    this.peak = Math.max(this.peak, this.#open)
  }

  leave(now: number): void {
    this.advance(now)
    this.#open -= 1
  }

  /** Adds the time until `now` to `openMs`. If the clock was set back, adds nothing. */
  advance(now: number): void {
    this.openMs += this.#open * Math.max(0, now - this.#countedTo)
    this.#countedTo = now
  }

  /** Starts to count an hour. Connections that are open count in it from `from`, but not as opened. */
  restart(from: number): void {
    this.opened = 0
    this.openMs = 0
    this.peak = this.#open
    this.#countedTo = from
  }
}

/** The counts of one organization during the current hour. */
export class UsageCounter implements UsageCounts {
  updates = 0
  bytesSent = 0
  calls = 0
  readonly connections: ConnectionCount
  /** Null for the usage of a workspace that belongs to no organization with its own counter. */
  readonly organization: OrganizationOfKey | null
  /** Record that the last write of the current hour has stored; null if there was none. */
  written: UsageRecord | null = null
  readonly #workspace: ConnectionCount
  readonly #now: () => number
  #users = 0

  /**
   * @param workspace counts the connections of all organizations of the workspace
   * @param now returns the time, and first starts a new hour if the current one has ended
   */
  constructor(organization: OrganizationOfKey | null, workspace: ConnectionCount, now: () => number) {
    this.organization = organization
    this.#workspace = workspace
    this.#now = now
    this.connections = new ConnectionCount(now())
  }

  /** True if a later event may be counted here. */
  get isUsed(): boolean {
    return this.#users > 0 || this.connections.isOpen
  }

  /** Keeps the counter until `release` is called. */
  hold(): this {
    this.#users += 1
    return this
  }

  release(): void {
    this.#users -= 1
  }

  enter(): void {
    const now = this.#now()
    this.connections.enter(now)
    this.#workspace.enter(now)
  }

  leave(): void {
    const now = this.#now()
    this.connections.leave(now)
    this.#workspace.leave(now)
  }

  restart(from: number): void {
    this.updates = 0
    this.bytesSent = 0
    this.calls = 0
    this.connections.restart(from)
    this.written = null
  }
}
