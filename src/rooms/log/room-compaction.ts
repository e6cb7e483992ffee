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

/** A tail smaller than this is never worth a snapshot. */
const tailBytesMin = 16 * 1024
/**
 * Maximum share of the time that encoding takes while users are editing. If updates arrive faster than any user can
 * type, the tail temporarily grows beyond its limit.
 */
const encodingShareMax = 0.02
/** Milliseconds until the next try after a failure of the store, while users are editing. */
const failedRestMs = 30_000

export interface CompactionLimits {
  /** Updates behind the snapshot that make a compaction worthwhile; more where opening with them is not slow. */
  readonly compactAfterUpdates: number
  /** How long a version that was handed out can be rebuilt; 0 keeps none beyond what the log holds anyway. */
  readonly keepVersionsMs: number
}

/**
 * Stores a snapshot of one document when the tail of its log is too large. The tail may be three quarters as large as
 * the snapshot. So opening reads at most 1.75 times the state, and a small edit of a large document writes at most 3.4
 * times its own size. A tail with very many entries is compacted earlier, because opening applies them one by one: it
 * may take as long as the snapshot does. The disk also has at most two older snapshots, and the updates since the older
 * one, until `finish` removes them.
 */
export class RoomCompaction {
  readonly #log: DocumentLog
  readonly #doc: Key
  readonly #state: DocumentState
  readonly #commits: Commits
  readonly #limits: CompactionLimits
  readonly #clock: Clock
  /** Returns whether this is the home node, which compacts the log. The other nodes wait longer. */
  readonly #isHome: () => boolean
  readonly #quiet: () => Promise<() => void>
  #base: number
  #snapshotBytes: number
  #tail: LogTail
  #running: Promise<void> | null = null
  /** True if the log has versions from before its snapshot. */
  #hasOlder = false
  /** In the time of `performance.now`. */
  #restsUntil = 0

  constructor(
    log: DocumentLog,
    doc: Key,
    parts: {
      state: DocumentState
      commits: Commits
      base: number
      tail: LogTail
      limits: CompactionLimits
      clock: Clock
      isHome: () => boolean
      /**
       * Has what arrives wait until what is returned is called, and resolves when nothing is under way. Not called where
       * the log has one writer: then nothing gets in between a snapshot and the appends under way.
       */
      quiet: () => Promise<() => void>
    },
  ) {
    this.#log = log
    this.#doc = doc
    this.#state = parts.state
    this.#commits = parts.commits
    this.#base = parts.base
    this.#tail = parts.tail
    this.#limits = parts.limits
    this.#clock = parts.clock
    this.#isHome = parts.isHome
    this.#quiet = parts.quiet
    this.#snapshotBytes = Math.max(0, parts.state.sizeBytes - parts.tail.bytes)
  }

  /** Counts what a commit has added. */
  noted(entries: number, bytes: number): void {
    this.#tail.entries += entries
    this.#tail.bytes += bytes
  }

  /** True if the log should be compacted while users are editing. */
  get due(): boolean {
    if (this.#tail.bytes < tailBytesMin) return false
    const tail = this.#isHome() ? this.#tail : partOf(this.#tail)
    const isLong = tail.entries > this.#limits.compactAfterUpdates || isLarge(tail, this.#snapshotBytes)
    return isLong && isSlowToOpen(tail, this.#snapshotBytes) && performance.now() >= this.#restsUntil
  }

  /** True if the log should be compacted when the last member leaves. */
  get dueAtLeaving(): boolean {
    return isWorthCompactingOnClose(this.#tail, this.#snapshotBytes)
  }

  /** True if the log has more than its compacted form would have. */
  get hasLeft(): boolean {
    return this.#hasOlder || isTailLarge(this.#tail, this.#snapshotBytes)
  }

  /** Compacts the log; resolves when done. Joins a running compaction. @throws the errors of the log */
  run(): Promise<void> {
    this.#running ??= this.#compact(this.#keepSince()).finally(() => {
      this.#running = null
    })
    return this.#running
  }

  /** Compacts the log to one snapshot, without older versions. @throws the errors of the log */
  async finish(): Promise<void> {
    await this.#running
    this.#running ??= this.#compact(keepNone).finally(() => {
      this.#running = null
    })
    await this.#running
  }

  async #compact(since: number): Promise<void> {
    const release = this.#commits.hasOneWriter ? null : await this.#quiet()
    const counted = this.#tail
    this.#tail = { entries: 0, bytes: 0 }
    try {
      await this.#store(since, counted, release)
    } catch (error) {
      this.noted(counted.entries, counted.bytes)
      this.#restsUntil = performance.now() + failedRestMs
      throw error
    }
  }

  async #store(since: number, counted: LogTail, release: (() => void) | null): Promise<void> {
    const { snapshot, epoch, upTo } = await this.#covered().finally(release)
    // Null: others have appended what this snapshot does not have.
    if (upTo === null) return this.noted(counted.entries, counted.bytes)
    if (!(await this.#log.compact(this.#doc, epoch, this.#base, upTo, snapshot, since))) {
      return this.#overtaken(epoch, counted)
    }
    this.#base = upTo
    this.#snapshotBytes = snapshot.length
    this.#hasOlder = since !== keepNone
  }

  async #covered(): Promise<{ snapshot: Uint8Array; epoch: number; upTo: number | null }> {
    const snapshot = this.#encode()
    const { epoch } = this.#commits
    return { snapshot, epoch, upTo: await this.#commits.exact }
  }

  /** Updates the sizes after another node may have compacted the log. The size of its snapshot is estimated. */
  async #overtaken(epoch: number, counted: LogTail): Promise<void> {
    const [head = null] = await this.#log.heads([this.#doc])
    if (head === null || head.epoch !== epoch || head.base <= this.#base)
      return this.noted(counted.entries, counted.bytes)
    this.#base = head.base
    this.#hasOlder = head.base > head.oldest
    this.#snapshotBytes = this.#state.sizeBytes
  }

  #encode(): Uint8Array {
    const start = performance.now()
    const snapshot = this.#state.encode()
    const end = performance.now()
    this.#restsUntil = end + (end - start) * (1 / encodingShareMax - 1)
    return snapshot
  }

  #keepSince(): number {
    const { keepVersionsMs } = this.#limits
    return keepVersionsMs === 0 ? keepNone : this.#clock.now() - keepVersionsMs
  }
}

/**
 * Factor by which the tail must be longer before a node that is not the home node compacts: the home node has done it
 * by then.
 */
const patience = 3
const partOf = ({ entries, bytes }: LogTail): LogTail => ({
  entries: entries / patience,
  bytes: bytes / patience,
})
