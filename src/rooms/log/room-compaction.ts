import type { Clock } from '../../clock.ts'
import type { DocumentLog, Key } from '../../engine/engine.ts'
import type { DocumentState } from '../room/document-state.ts'
import type { Commits } from './commits.ts'
import {
  isLarge,
  isSlowToOpen,
  isTailLarge,
  isWorthCompactingOnClose,
  keepNone,
} from './compaction-policy.ts'
import type { LogTail } from './load-room.ts'

/** Minimum bytes of a tail for a compaction while users are editing. */
const tailBytesMin = 16 * 1024
/**
 * Maximum share of the time that encoding may take while users are editing. If updates arrive faster than any
 * user can type, the tail temporarily exceeds its limit.
 */
const encodingShareMax = 0.02
/** Milliseconds until the next try while users are editing, after the store has failed. */
const failedRestMs = 30_000

export interface CompactionLimits {
  /**
   * Number of updates after the snapshot that make a compaction worthwhile. A longer tail is accepted if the
   * document still opens fast with it.
   */
  readonly compactAfterUpdates: number
  /**
   * Time in ms for which a returned version can be rebuilt; 0: only as long as the log happens to contain the
   * version.
   */
  readonly keepVersionsMs: number
}

type CompactionState =
  /**
   * `until`: the earliest time of the next compaction while users are editing, on the clock of
   * `performance.now`.
   */
  | { readonly is: 'resting'; readonly until: number }
  | { readonly is: 'running'; readonly done: Promise<void> }

interface Covered {
  readonly snapshot: Uint8Array
  readonly epoch: number
  /**
   * Sequence number of the last update in the snapshot; null if other nodes have appended updates before it
   * that the snapshot lacks.
   */
  readonly upTo: number | null
  /** The earliest time of the next compaction, so that encoding does not exceed its share of the time. */
  readonly until: number
}

/**
 * Stores a snapshot of one document when the tail of its log is too large. The tail may have three quarters
 * of the size of the snapshot. Opening therefore reads at most 1.75 times the state, and a small edit of a
 * large document writes at most 3.4 times its own size. A tail with very many entries is compacted earlier:
 * opening applies them one by one, which may take as long as reading the snapshot. Until `finish` removes
 * them, the disk also has at most two older snapshots, and the updates since the older of the two.
 */
export class RoomCompaction {
  readonly #log: DocumentLog
  readonly #doc: Key
  readonly #document: DocumentState
  readonly #commits: Commits
  readonly #limits: CompactionLimits
  readonly #clock: Clock
  /**
   * Returns whether this node is the home node, which compacts the log. Other nodes compact it only when the
   * tail is much longer.
   */
  readonly #isHome: () => boolean
  readonly #quiet: () => Promise<() => void>
  #base: number
  #snapshotBytes: number
  #tail: LogTail
  #state: CompactionState = { is: 'resting', until: 0 }
  /** True if the log has versions from before its snapshot. */
  #hasOlder = false

  constructor(
    log: DocumentLog,
    doc: Key,
    dependencies: {
      state: DocumentState
      commits: Commits
      base: number
      tail: LogTail
      limits: CompactionLimits
      clock: Clock
      isHome: () => boolean
      /**
       * Pauses arriving updates, and resolves when no append is in progress. The returned function ends the
       * pause. `quiet` is not called if the log has one writer, because no other append can then get between
       * a snapshot and the appends in progress.
       */
      quiet: () => Promise<() => void>
    },
  ) {
    this.#log = log
    this.#doc = doc
    this.#document = dependencies.state
    this.#commits = dependencies.commits
    this.#base = dependencies.base
    this.#tail = dependencies.tail
    this.#limits = dependencies.limits
    this.#clock = dependencies.clock
    this.#isHome = dependencies.isHome
    this.#quiet = dependencies.quiet
    this.#snapshotBytes = Math.max(0, dependencies.state.sizeBytes - dependencies.tail.bytes)
  }

  /** Counts the entries and bytes of a commit. */
  noted(entries: number, bytes: number): void {
    this.#tail.entries += entries
    this.#tail.bytes += bytes
  }

  /** True if the log should be compacted while users are editing. */
  get due(): boolean {
    const state = this.#state
    if (this.#tail.bytes < tailBytesMin || state.is === 'running') return false
    const tail = this.#isHome() ? this.#tail : partOf(this.#tail)
    const isLong = tail.entries > this.#limits.compactAfterUpdates || isLarge(tail, this.#snapshotBytes)
    return isLong && isSlowToOpen(tail, this.#snapshotBytes) && performance.now() >= state.until
  }

  /** True if the log should be compacted when the last member leaves. */
  get dueAtLeaving(): boolean {
    return isWorthCompactingOnClose(this.#tail, this.#snapshotBytes)
  }

  /** True if a compaction would make the log smaller. */
  get isCompactable(): boolean {
    return this.#hasOlder || isTailLarge(this.#tail, this.#snapshotBytes)
  }

  /**
   * Compacts the log, and resolves when this is done. Joins a compaction that is running. @throws the errors
   * of the log
   */
  run(): Promise<void> {
    return this.#state.is === 'running' ? this.#state.done : this.#begin(this.#keepSince())
  }

  /** Compacts the log to one snapshot, without older versions. @throws the errors of the log */
  async finish(): Promise<void> {
    if (this.#state.is === 'running') await this.#state.done
    await (this.#state.is === 'running' ? this.#state.done : this.#begin(keepNone))
  }

  #begin(since: number): Promise<void> {
    const done = this.#compact(since)
    this.#state = { is: 'running', done }
    return done
  }

  async #compact(since: number): Promise<void> {
    let until = 0
    try {
      until = await this.#storeCounted(since)
    } catch (error) {
      until = performance.now() + failedRestMs
      throw error
    } finally {
      this.#state = { is: 'resting', until }
    }
  }

  /** Compacts the log, and returns the earliest time of the next compaction. */
  async #storeCounted(since: number): Promise<number> {
    const release = this.#commits.hasOneWriter ? null : await this.#quiet()
    const counted = this.#tail
    this.#tail = { entries: 0, bytes: 0 }
    try {
      const covered = await this.#covered().finally(release)
      await this.#store(since, counted, covered)
      return covered.until
    } catch (error) {
      this.noted(counted.entries, counted.bytes)
      throw error
    }
  }

  async #store(since: number, counted: LogTail, { snapshot, epoch, upTo }: Covered): Promise<void> {
    // Null: other nodes have appended updates that this snapshot does not contain.
    if (upTo === null) return this.noted(counted.entries, counted.bytes)
    if (!(await this.#log.compact(this.#doc, epoch, this.#base, upTo, snapshot, since))) {
      return this.#overtaken(epoch, counted)
    }
    this.#base = upTo
    this.#snapshotBytes = snapshot.length
    this.#hasOlder = since !== keepNone
  }

  async #covered(): Promise<Covered> {
    const start = performance.now()
    const snapshot = this.#document.encode()
    const end = performance.now()
    const until = end + (end - start) * (1 / encodingShareMax - 1)
    const { epoch } = this.#commits
    return { snapshot, until, epoch, upTo: await this.#commits.exact }
  }

  /** Updates the sizes if another node has compacted the log. The size of its snapshot is estimated. */
  async #overtaken(epoch: number, counted: LogTail): Promise<void> {
    const [head = null] = await this.#log.heads([this.#doc])
    if (head === null || head.epoch !== epoch || head.base <= this.#base)
      return this.noted(counted.entries, counted.bytes)
    this.#base = head.base
    this.#hasOlder = head.base > head.oldest
    this.#snapshotBytes = this.#document.sizeBytes
  }

  #keepSince(): number {
    const { keepVersionsMs } = this.#limits
    return keepVersionsMs === 0 ? keepNone : this.#clock.now() - keepVersionsMs
  }
}

/**
 * A node that is not the home node compacts only when the tail is longer by this factor. Until then the home
 * node has normally compacted the log.
 */
const patience = 3
const partOf = ({ entries, bytes }: LogTail): LogTail => ({
  entries: entries / patience,
  bytes: bytes / patience,
})
