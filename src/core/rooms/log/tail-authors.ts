import { type AttributedUpdate, AttributionBuilder } from '../../update/attribution/attribution-builder.ts'

/** Maximum number of updates whose authors are kept in memory. They take at most some megabytes. */
const updatesMax = 50_000

/**
 * Maximum bytes of an update whose authors are collected in the tick of its commit: such an update takes up to 10 ms.
 * The compaction reads a larger one in slices.
 */
const updateBytesMax = 65_536

/** The authors of the entries of a log after the number `after`. */
export interface KnownAuthors {
  readonly after: number
  readonly entries: number
  readonly builder: AttributionBuilder
}

/**
 * Collects the authors of the updates that a room appends, so that a compaction does not have to read these
 * entries again. Usable only if the log has one writer: the order of the updates is then that of the log.
 */
export class TailAuthors {
  #after: number
  #entries = 0
  #builder: AttributionBuilder | null = null
  /** False if the entries after `#after` are no longer known. */
  #isKnown = true

  /** @param after number of the last entry of the log */
  constructor(after: number) {
    this.#after = after
  }

  add(updates: readonly Omit<AttributedUpdate, 'at'>[], at: number): void {
    this.#entries += updates.length
    if (!this.#isKnown) return
    const isLarge = updates.some(({ bytes }) => bytes.length > updateBytesMax)
    if (isLarge || this.#entries > updatesMax) return this.lose()
    this.#builder ??= new AttributionBuilder()
    for (const { bytes, by, source = 'socket', meta = null } of updates)
      this.#builder.add({ bytes, by, at, source, meta })
  }

  /** Returns the authors so far, and starts to collect those of later updates. Null if they are not known. */
  take(): KnownAuthors | null {
    const known = this.#isKnown
      ? { after: this.#after, entries: this.#entries, builder: this.#builder ?? new AttributionBuilder() }
      : null
    this.#entries = 0
    this.#builder = null
    this.#isKnown = true
    return known
  }

  /** Notes the end of a compaction. The collected updates are those after `after`. */
  compacted(after: number): void {
    this.#after = after
  }

  /** Discards the authors. The next compaction must read them from the log. */
  lose(): void {
    this.#isKnown = false
    this.#builder = null
  }
}
