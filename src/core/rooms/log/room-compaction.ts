import type { Clock } from '../../base/clock.ts'
import type { DocumentLog, Key } from '../../store/engine.ts'
import type { Attribution } from '../../update/attribution/attribution.ts'
import type { DocumentState, EncodedState } from '../document/document-state.ts'
import type { Change } from '../updates/change.ts'
import type { CommitQueue } from './commit-queue.ts'
import {
  isLarge,
  isSlowToOpen,
  isTailLarge,
  isWorthCompactingOnClose,
  type KeepsAttribution,
  keepNone,
} from './compaction-policy.ts'
import type { LoadedRoom, LogTail } from './load-room.ts'
import { compactedAttribution, type KnownAuthors, TailAuthors } from './read-attribution.ts'

/** Minimum bytes of the tail at which a compaction runs while users are editing. */
const tailBytesMin = 16 * 1024
/**
 * Maximum share of the time that encoding snapshots and attributions takes while users are editing. Because of this limit, the
 * tail temporarily exceeds its own limit if updates arrive faster than any user can type.
 */
const encodingShareMax = 0.02
/** Milliseconds from a failed compaction to the next try while users are editing. */
const failedRestMs = 30_000

export interface CompactionLimits {
  /**
   * Number of updates in the tail above which a compaction is considered. A longer tail is accepted if the
   * document still opens fast with it.
   */
  readonly compactAfterUpdates: number
  /**
   * Milliseconds for which a version that was returned to a caller can be rebuilt. 0: a version can be
   * rebuilt only as long as the log happens to contain it.
   */
  readonly keepVersionsMs: number
}

type CompactionState =
  /**
   * No compaction runs. `until`: the earliest time of the next compaction while users are editing, on the
   * clock of `performance.now`.
   */
  | { readonly is: 'resting'; readonly until: number }
  | { readonly is: 'running'; readonly done: Promise<void> }

interface CompactionWork {
  readonly since: number
  /** Id of a user whose changes get an unknown author. */
  readonly forget: string | undefined
  /** The authors of the covered entries; null if they are not known. */
  readonly tail: KnownAuthors | null
}

interface Covered {
  readonly snapshot: Uint8Array
  readonly epoch: number
  /** Sequence number of the last update in the snapshot. */
  readonly upTo: number
}

/** A room as its compaction sees it. */
interface CompactedRoom {
  readonly doc: Key
  readonly state: DocumentState
  readonly commits: CommitQueue
  readonly generations: { carry(attribution: Attribution): Attribution }
  readonly whenEncoded: <T>(use: (sliced: EncodedState | null) => T) => Promise<T>
  readonly dependencies: {
    readonly log: DocumentLog
    readonly limits: CompactionLimits
    readonly clock: Clock
    readonly keepsAttribution: KeepsAttribution
  }
}

/**
 * Stores a snapshot of one document when the tail of its log is too large. The tail may have three quarters
 * of the size of the snapshot. Opening therefore reads at most 1.75 times the state, and a small edit of a
 * large document writes at most 3.4 times its own size. A tail with very many entries is compacted earlier,
 * because opening applies the entries one by one, which may take as long as reading the snapshot.
 *
 * The disk also has at most two older snapshots, and the updates since the older of the two, until `finish`
 * removes them.
 */
export class RoomCompaction {
  readonly #room: CompactedRoom
  #base: number
  #snapshotBytes: number
  #tail: LogTail
  readonly #authors: TailAuthors
  #state: CompactionState = { is: 'resting', until: 0 }
  /** True if the log has entries that are older than its snapshot. */
  #hasOlder = false

  constructor(room: CompactedRoom, { loaded, state, tail }: LoadedRoom) {
    const { base, head } = loaded.state === 'live' ? loaded : { base: 0, head: 0 }
    this.#room = room
    this.#base = base
    this.#authors = new TailAuthors(head)
    this.#tail = tail
    this.#snapshotBytes = Math.max(0, state.sizeBytes - tail.bytes)
  }

  /** Adds the updates of a commit at the time `at` to the tail. */
  added(updates: readonly Change[], at: number): void {
    let bytes = 0
    for (const update of updates) bytes += update.bytes.length
    this.#noted(updates.length, bytes)
    this.#authors.add(updates, at)
  }

  #noted(entries: number, bytes: number): void {
    this.#tail.entries += entries
    this.#tail.bytes += bytes
  }

  /** Returns the entries of a failed compaction to the tail. */
  #putBack({ entries, bytes }: LogTail): void {
    this.#noted(entries, bytes)
    this.#authors.lose()
  }

  /** True if the log should be compacted while users are editing. */
  get due(): boolean {
    const state = this.#state
    if (this.#tail.bytes < tailBytesMin || state.is === 'running') return false
    const { compactAfterUpdates } = this.#room.dependencies.limits
    const isLong = this.#tail.entries > compactAfterUpdates || isLarge(this.#tail, this.#snapshotBytes)
    return isLong && isSlowToOpen(this.#tail, this.#snapshotBytes) && performance.now() >= state.until
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
   * Compacts the log, and resolves when this is done. If a compaction is already running, waits for it
   * instead.
   * @throws the errors of the log
   */
  run(): Promise<void> {
    return this.#state.is === 'running' ? this.#state.done : this.#begin(this.#keepSince())
  }

  /** Compacts the log unless all its entries are in the snapshot. @throws the errors of the log */
  async compactAll(): Promise<void> {
    if (this.#tail.entries > 0 || this.#state.is === 'running') await this.run()
  }

  /** Resolves when no compaction runs, also if the last one has failed. */
  async settled(): Promise<void> {
    if (this.#state.is === 'running') await this.#state.done.catch(() => {})
  }

  /**
   * Compacts the log to one snapshot, without older versions.
   * @param forget id of a user whose changes get an unknown author
   * @throws the errors of the log
   */
  async finish(forget?: string): Promise<void> {
    if (this.#state.is === 'running') await this.#state.done
    await (this.#state.is === 'running' ? this.#state.done : this.#begin(keepNone, forget))
  }

  #begin(since: number, forget?: string): Promise<void> {
    const done = this.#compact(since, forget)
    this.#state = { is: 'running', done }
    return done
  }

  async #compact(since: number, forget?: string): Promise<void> {
    let until = 0
    try {
      until = await this.#storeCounted(since, forget)
    } catch (error) {
      until = performance.now() + failedRestMs
      throw error
    } finally {
      this.#state = { is: 'resting', until }
    }
  }

  /** Compacts the log, and returns the earliest time of the next compaction. */
  async #storeCounted(since: number, forget?: string): Promise<number> {
    // Updates that arrive until the document is encoded belong to this compaction.
    const { snapshot, encodingMs, epoch, durable, counted, tail } = await this.#room.whenEncoded((sliced) =>
      this.#take(sliced),
    )
    try {
      const covered = { snapshot, epoch, upTo: await durable }
      const ms = await this.#store({ since, forget, tail }, counted, covered)
      // Keeps encoding within its share of the time.
      return performance.now() + (encodingMs + ms) * (1 / encodingShareMax - 1)
    } catch (error) {
      this.#putBack(counted)
      throw error
    }
  }

  /** Stores a snapshot with its attribution. Returns the milliseconds that the attribution took. */
  async #store(
    { since, forget, tail }: CompactionWork,
    counted: LogTail,
    { snapshot, epoch, upTo }: Covered,
  ): Promise<number> {
    const base = this.#base
    const { doc, dependencies, generations } = this.#room
    const { log } = dependencies
    const rewrite = (all: Attribution): Attribution => generations.carry(all)
    const { bytes, ms } = (await dependencies.keepsAttribution(doc))
      ? await compactedAttribution(log, doc, { epoch, base, upTo, forget, rewrite, tail })
      : { bytes: null, ms: 0 }
    if (await log.compact(doc, epoch, base, upTo, snapshot, since, bytes, forget)) {
      this.#base = upTo
      this.#authors.compacted(upTo)
      this.#snapshotBytes = snapshot.length
      this.#hasOlder = since !== keepNone
    } else {
      await this.#overtaken(epoch, counted)
    }
    return ms
  }

  /** Takes the state, and in the same tick everything that belongs to it. */
  #take(sliced: EncodedState | null) {
    const { bytes: snapshot, ms: encodingMs } = this.#room.state.encodeTimed(sliced)
    const { epoch, durable } = this.#room.commits
    const counted = this.#tail
    this.#tail = { entries: 0, bytes: 0 }
    return { snapshot, encodingMs, epoch, durable, counted, tail: this.#authors.take() }
  }

  /**
   * Handles a compaction that the log has rejected. If a former owner of the document has compacted the log,
   * updates the sizes to those of its snapshot, whose size is estimated.
   */
  async #overtaken(epoch: number, counted: LogTail): Promise<void> {
    const { doc, dependencies } = this.#room
    const [head = null] = await dependencies.log.heads([doc])
    if (head === null || head.epoch !== epoch || head.base <= this.#base) return this.#putBack(counted)
    this.#authors.lose()
    this.#base = head.base
    this.#hasOlder = head.base > head.oldest
    this.#snapshotBytes = this.#room.state.sizeBytes
  }

  #keepSince(): number {
    const { limits, clock } = this.#room.dependencies
    return limits.keepVersionsMs === 0 ? keepNone : clock.now() - limits.keepVersionsMs
  }
}
