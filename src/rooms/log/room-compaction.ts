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
 * While people are editing, encoding takes at most this share of the time: with updates that come faster than any
 * hands can type, the tail grows for a while beyond what it may have otherwise.
 */
const encodingShareMax = 0.02
/** While people are editing, it is tried again so much later where the store could not do it, in ms. */
const failedRestMs = 30_000

export interface CompactionLimits {
  /** Updates behind the snapshot that make a compaction worthwhile; more where opening with them is not slow. */
  readonly compactAfterUpdates: number
  /** How long a version that was handed out can be rebuilt; 0 keeps none beyond what the log holds anyway. */
  readonly keepVersionsMs: number
}

/**
 * Puts a snapshot in front of the log of one document when its tail has outgrown it. The tail may be three
 * quarters as large as the snapshot, so what opening reads stays within 1.75 times the state, and a small edit of a
 * large document writes within 3.4 times its own size; a tail of very many entries goes earlier, because opening applies them one
 * by one: it may take as long as the snapshot does. On disk there are besides at most two older snapshots, and the
 * updates since the older of them, until nobody needs them any more (`finish`).
 */
export class RoomCompaction {
  readonly #log: DocumentLog
  readonly #doc: Key
  readonly #state: DocumentState
  readonly #commits: Commits
  readonly #limits: CompactionLimits
  readonly #clock: Clock
  /** Is this the node that compacts it, of those that have it? The others do it much later. */
  readonly #isHome: () => boolean
  readonly #quiet: () => Promise<() => void>
  #base: number
  #snapshotBytes: number
  #tail: LogTail
  #running: Promise<void> | null = null
  /** Are there versions in the log from before its snapshot? */
  #hasOlder = false
  /** As `performance.now` tells. */
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

  /** Is it time, while people are editing? */
  get due(): boolean {
    if (this.#tail.bytes < tailBytesMin) return false
    const tail = this.#isHome() ? this.#tail : partOf(this.#tail)
    const isLong = tail.entries > this.#limits.compactAfterUpdates || isLarge(tail, this.#snapshotBytes)
    return isLong && isSlowToOpen(tail, this.#snapshotBytes) && performance.now() >= this.#restsUntil
  }

  /** Is it time, when everybody leaves? */
  get dueAtLeaving(): boolean {
    return isWorthCompactingOnClose(this.#tail, this.#snapshotBytes)
  }

  /** Has the log more in it than its final form would have? */
  get hasLeft(): boolean {
    return this.#hasOlder || isTailLarge(this.#tail, this.#snapshotBytes)
  }

  /** Compacts; resolves when done. A compaction under way is joined. @throws what the log throws */
  run(): Promise<void> {
    this.#running ??= this.#compact(this.#keepSince()).finally(() => {
      this.#running = null
    })
    return this.#running
  }

  /** Gives the log its final form, without any older version. @throws what the log throws */
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

  /** Another node may have compacted it; what it has left is told roughly. */
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

/** Who is not at home waits until the tail has grown so many times as long: by then whoever is has compacted it. */
const patience = 3
const partOf = ({ entries, bytes }: LogTail): LogTail => ({
  entries: entries / patience,
  bytes: bytes / patience,
})
