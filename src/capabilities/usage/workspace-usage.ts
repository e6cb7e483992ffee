import type { UsageCounts } from '../../core/directory/usage-counts.ts'
import type { Key } from '../../core/store/engine.ts'
import { keyName } from '../../core/store/key-encoding.ts'
import {
  hourKey,
  type MeasuredBytes,
  msPerHour,
  type OrganizationOfKey,
  type UsageRecord,
} from './usage-records.ts'

/**
 * Counts the open connections of an organization or a workspace during one hour. All times are in epoch
 * milliseconds.
 */
class ConnectionCount {
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

/**
 * Maximum number of organizations of one workspace that have their own counter in one hour on one node. The
 * usage of further organizations counts for the workspace only.
 */
export const organizationsPerHourMax = 5_000
/**
 * Maximum number of records of ended hours that wait for the store. If there are more, the oldest ones are
 * dropped.
 */
const endedRecordsMax = 20_000

export interface CountedHour {
  /** Start in epoch milliseconds. */
  readonly start: number
  /** Unique id under which the counts are stored. */
  readonly writer: string
}

/** The final counts of an ended hour. They are encoded when they are stored, because many hours end at once. */
interface EndedRecord {
  readonly key: Key
  readonly record: UsageRecord
}

/** A record that the store does not have yet. */
interface UnwrittenRecord extends EndedRecord {
  /** Counter of the current hour; null if the hour has ended. */
  readonly counter: UsageCounter | null
}

/** The usage of one workspace during the current hour, on this node. */
export class WorkspaceUsage {
  /** Counts what belongs to no organization with its own counter. */
  readonly rest: UsageCounter
  readonly #connections: ConnectionCount
  readonly #organizations = new Map<string, UsageCounter>()
  readonly #now: () => number
  readonly #node: string
  #stored: MeasuredBytes | null = null
  /** Records of ended hours that are not stored yet, by the name of their keys, oldest first. */
  readonly #ended = new Map<string, EndedRecord>()
  #written: UsageRecord | null = null

  /** @param node name of this node */
  constructor(node: string, now: () => number) {
    this.#node = node
    this.#now = now
    this.#connections = new ConnectionCount(now())
    this.rest = new UsageCounter(null, this.#connections, now)
  }

  get counters(): number {
    return 1 + this.#organizations.size
  }

  /** True if nothing was counted in the current hour, no record waits for the store, and nothing has a counter. */
  get isIdle(): boolean {
    if (this.rest.isUsed || this.#organizations.size > 0 || this.#ended.size > 0) return false
    return this.#record(this.#connections, this.rest) === null
  }

  counterOf({ apiKey, organizationId }: OrganizationOfKey): UsageCounter {
    const name = keyName([organizationId, apiKey])
    const known = this.#organizations.get(name)
    if (known !== undefined) return known
    if (this.#organizations.size >= organizationsPerHourMax) return this.rest
    const counter = new UsageCounter({ apiKey, organizationId }, this.#connections, this.#now)
    this.#organizations.set(name, counter)
    return counter
  }

  /** Stores a measurement of the workspace with the current hour, and with later ones until the next one. */
  measured(bytes: number, at: number): void {
    this.#stored = { bytes, at }
  }

  /** Ends an hour, and begins a later one. @param start start of the later hour, in epoch milliseconds */
  end(ended: CountedHour, start: number): void {
    this.#advance(ended.start + msPerHour)
    this.#restart(ended, start)
  }

  /**
   * Ends an hour, because the clock was set back to `now`. Connections that are open do not count in the time
   * between the last event and `now`.
   */
  endAtReturn(ended: CountedHour, now: number): void {
    this.#restart(ended, now)
    this.#stored = null
  }

  /** @param from time from which open connections count in the next hour */
  #restart(ended: CountedHour, from: number): void {
    for (const { key, record } of this.#changed(ended)) this.#ended.set(keyName(key), { key, record })
    for (const oldest of this.#ended.keys()) {
      if (this.#ended.size <= endedRecordsMax) break
      this.#ended.delete(oldest)
    }
    this.#connections.restart(from)
    this.#written = null
    this.rest.restart(from)
    for (const [name, counter] of this.#organizations) {
      if (counter.isUsed) counter.restart(from)
      else this.#organizations.delete(name)
    }
  }

  /** Returns the records that differ from the stored ones. @param hour the current hour */
  unwritten(hour: CountedHour, now: number): readonly UnwrittenRecord[] {
    this.#advance(now)
    const ended = [...this.#ended.values()].map((entry) => ({ ...entry, counter: null }))
    return [...ended, ...this.#changed(hour)]
  }

  /** Call when the records are stored. @param records records of the current hour, or of ended ones */
  wrote(records: readonly UnwrittenRecord[]): void {
    for (const { key, record, counter } of records) {
      if (counter === null) this.#ended.delete(keyName(key))
      else if (counter === this.rest) this.#written = record
      else counter.written = record
    }
  }

  #advance(now: number): void {
    this.#connections.advance(now)
    for (const { connections } of this.#organizations.values()) connections.advance(now)
  }

  *#changed(hour: CountedHour): Generator<UnwrittenRecord> {
    const total = this.#record(this.#connections, this.#sum())
    if (total !== null && !isSame(total, this.#written))
      yield { key: hourKey(null, hour.start, hour.writer), record: total, counter: this.rest }
    for (const counter of this.#organizations.values()) {
      const record = this.#record(counter.connections, counter)
      if (record !== null && !isSame(record, counter.written))
        yield { key: hourKey(counter.organization, hour.start, hour.writer), record, counter }
    }
  }

  #sum(): Counted {
    const sum = { updates: 0, bytesSent: 0, calls: 0 }
    for (const { updates, bytesSent, calls } of [this.rest, ...this.#organizations.values()]) {
      sum.updates += updates
      sum.bytesSent += bytesSent
      sum.calls += calls
    }
    return sum
  }

  /** Returns a record; null if nothing was counted. */
  #record(connections: ConnectionCount, { updates, bytesSent, calls }: Counted): UsageRecord | null {
    const { opened, peak, openMs } = connections
    if (opened + peak + updates + bytesSent + calls === 0) return null
    const stored = connections === this.#connections && this.#stored !== null ? { stored: this.#stored } : {}
    return { node: this.#node, opened, peak, openMs, updates, bytesSent, calls, ...stored }
  }
}

type Counted = Pick<UsageCounter, 'updates' | 'bytesSent' | 'calls'>

const isSame = (record: UsageRecord, written: UsageRecord | null): boolean =>
  written !== null &&
  record.opened === written.opened &&
  record.peak === written.peak &&
  record.openMs === written.openMs &&
  record.updates === written.updates &&
  record.bytesSent === written.bytesSent &&
  record.calls === written.calls &&
  record.stored === written.stored
