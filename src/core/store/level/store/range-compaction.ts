import type { Clock } from '../../../base/clock.ts'
import { errorMessage } from '../../../base/errors.ts'
import type { Log } from '../../../base/log.ts'
import type { ByteRange } from '../../key-encoding.ts'
import type { OpenCalls } from '../../open-calls.ts'
import type { DocumentKeyspace } from '../../pairs/keyspaces.ts'
import type { GroupCommit } from './group-commit.ts'
import type { ReopeningStore } from './reopening-store.ts'

/**
 * Assumed size in bytes of an update that is deleted without being read. This is the minimum size of an
 * update with its key and header.
 */
export const updateBytesGuessed = 64
/** Minimum number of deleted bytes of a document after which its tables are rewritten. */
const deletedBytesMin = 64 * 1024
/**
 * Time in ms between the last deletion in a document and the rewrite of its tables. Each further deletion
 * restarts this delay.
 */
const quietMs = 10_000
/**
 * Pause after each rewrite, as a multiple of the duration of the rewrite. With 9, rewriting takes at most a
 * tenth of the disk time.
 */
const restShare = 9
/**
 * Maximum number of documents that wait for a rewrite. Further documents get no rewrite; LevelDB compacts
 * their tables eventually.
 */
const waitingMax = 10_000

/** Number that is greater than all sequence numbers. No update or snapshot has this number. */
const numberMax = Number.MAX_SAFE_INTEGER

/**
 * Removes deleted records from the files. LevelDB keeps such records until enough other data has been written
 * to compact their range. For a document whose log has been compacted, this may never happen. Only one
 * document is rewritten at a time, so the work is limited to the tables that contain the keys of one
 * document.
 */
export class RangeCompaction {
  readonly #gate: OpenCalls
  readonly #disk: ReopeningStore
  readonly #commit: GroupCommit
  readonly #clock: Clock
  readonly #log: Log | undefined
  /**
   * Ranges that wait for their rewrite, by key. The range that has not changed for the longest time is first.
   */
  readonly #waiting = new Map<string, { readonly keys: DocumentKeyspace; bytes: number; at: number }>()
  #cancel: (() => void) | null = null

  constructor(
    gate: OpenCalls,
    commit: GroupCommit,
    disk: ReopeningStore,
    clock: Clock,
    log: Log | undefined,
  ) {
    this.#gate = gate
    this.#commit = commit
    this.#disk = disk
    this.#clock = clock
    this.#log = log
  }

  /**
   * Notes that bytes of a document have been deleted, and schedules the rewrite of its tables. With `bytes`
   * Infinity, the tables are rewritten even if the document is small.
   */
  noted(keys: DocumentKeyspace, bytes: number): void {
    const name = keys.updates.toString('latin1')
    const waiting = this.#waiting.get(name) ?? { keys, bytes: 0, at: 0 }
    this.#waiting.delete(name)
    waiting.bytes += bytes
    waiting.at = this.#clock.now() + quietMs
    if (this.#waiting.size < waitingMax) this.#waiting.set(name, waiting)
    if (this.#cancel === null) this.#schedule()
  }

  /** Cancels the waiting rewrites. A running rewrite continues; closing the gate waits for it. */
  stop(): void {
    this.#cancel?.()
    this.#waiting.clear()
  }

  #schedule(restMs = 0): void {
    const [first] = this.#waiting
    this.#cancel = null
    if (first === undefined || !this.#gate.isOpen) return
    const [name, { at }] = first
    this.#cancel = this.#clock.after(Math.max(restMs, at - this.#clock.now()), () => {
      const start = this.#clock.now()
      void this.#take(name).then(() => this.#schedule(restShare * (this.#clock.now() - start)))
    })
  }

  async #take(name: string): Promise<void> {
    const waiting = this.#waiting.get(name)
    if (waiting === undefined || waiting.at > this.#clock.now()) return
    this.#waiting.delete(name)
    if (waiting.bytes < deletedBytesMin || !this.#gate.isOpen) return
    try {
      await this.#gate.run(() => this.#rewrite(waiting.keys))
    } catch (error) {
      this.#log?.warn({ reason: errorMessage(error) }, 'the tables of a document could not be rewritten')
    }
  }

  /**
   * Rewrites the tables of a document. LevelDB skips a range if only its lowest level has tables for that
   * range. To avoid this, this method first writes the data in memory to a table. Then it deletes keys that
   * never exist: in each range of the document, one before and one after all other keys. These deletions
   * create a table at a higher level.
   */
  async #rewrite(keys: DocumentKeyspace): Promise<void> {
    const compact = (range: ByteRange) => this.#disk.read((store) => store.compactTables(range))
    const before = keys.ranges.map(({ gte }) => gte)
    const around = [...before, keys.update(numberMax), keys.snapshot(numberMax)]
    await compact({ gte: keys.update(0), lt: keys.update(0) })
    for (const key of around) this.#commit.delete(key)
    await this.#commit.durable()
    for (const range of keys.ranges) await compact(range)
  }
}
