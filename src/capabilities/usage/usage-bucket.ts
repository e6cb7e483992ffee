import type { MeasuredBytes, RecordPeriod, UsageRecord } from './usage-records.ts'

/** The sum of the records of one hour, day or month. Times are in epoch milliseconds. */
export class UsageBucket implements Omit<UsageRecord, 'node' | 'stored'> {
  readonly start: number
  opened = 0
  peak = 0
  openMs = 0
  updates = 0
  bytesSent = 0
  calls = 0
  /** The last measurement of the stored bytes; null if there is none. */
  stored: MeasuredBytes | null = null
  /** Peaks of the nodes in the hour that begins at `#peaksAt`. */
  readonly #peaks = new Map<string, number>()
  #peaksAt = 0

  constructor(start: number) {
    this.start = start
  }

  /**
   * Adds a record. The records of one hour must follow each other. The peaks of several nodes in one hour add
   * up. If a node had several processes, the largest peak counts.
   */
  add(period: RecordPeriod, at: number, record: UsageRecord): void {
    this.opened += record.opened
    this.openMs += record.openMs
    this.updates += record.updates
    this.bytesSent += record.bytesSent
    this.calls += record.calls
    this.peak = Math.max(this.peak, period === 'days' ? record.peak : this.#peakOf(at, record))
    const { stored } = record
    if (stored !== undefined && (this.stored?.at ?? 0) <= stored.at) this.stored = stored
  }

  #peakOf(at: number, { node, peak }: UsageRecord): number {
    if (at !== this.#peaksAt) this.#peaks.clear()
    this.#peaksAt = at
    this.#peaks.set(node, Math.max(peak, this.#peaks.get(node) ?? 0))
    return [...this.#peaks.values()].reduce((sum, each) => sum + each, 0)
  }
}
