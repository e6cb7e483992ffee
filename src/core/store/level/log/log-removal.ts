import type { Clock } from '../../../base/clock.ts'
import { DamagedRecordError } from '../../damaged-record.ts'
import type { Key } from '../../engine.ts'
import type { DocumentKeyspace } from '../../pairs/document-keyspace.ts'
import { decodeHead, encodeHead } from '../../pairs/record-codec.ts'
import type { GroupCommit } from '../store/group-commit.ts'
import { type RangeCompaction, updateBytesGuessed } from '../store/range-compaction.ts'
import type { ReopeningStore } from '../store/reopening-store.ts'
import { inEntryOrder, known } from '../store/write-through-cache.ts'
import type { DocumentCacheEntry, DocumentHeads } from './document-heads.ts'

/** Deletes logs with all their updates and snapshots. */
export class LogRemoval {
  readonly #documents: DocumentHeads
  readonly #commit: GroupCommit
  readonly #disk: ReopeningStore
  readonly #clock: Clock
  readonly #rewriting: RangeCompaction

  constructor({
    documents,
    commit,
    disk,
    clock,
    rewriting,
  }: {
    documents: DocumentHeads
    commit: GroupCommit
    disk: ReopeningStore
    clock: Clock
    rewriting: RangeCompaction
  }) {
    this.#rewriting = rewriting
    this.#clock = clock
    this.#documents = documents
    this.#commit = commit
    this.#disk = disk
  }

  /**
   * Deletes a log. Concurrent appends wait, and are then rejected.
   * @param only the expected epoch: if the log has another epoch, nothing is deleted, unless the log cannot
   * be read
   */
  async destroy(doc: Key, only?: number): Promise<void> {
    this.#commit.admit()
    await this.#documents.pinned(doc, async (cell) => {
      try {
        await inEntryOrder(cell, () => this.#destroyLive(cell, only))
      } catch (error) {
        if (!(error instanceof DamagedRecordError)) throw error
        await this.#destroyDamaged(cell.key)
      }
      await this.#commit.durable()
    })
  }

  /**
   * Deletes a document that cannot be read. Nothing of such a document is cached, and its appends fail until
   * the deletion is durable. If even the epoch cannot be read, the current time in seconds becomes the epoch,
   * because this number is greater than any earlier epoch.
   */
  async #destroyDamaged(keys: DocumentKeyspace): Promise<void> {
    const stored = await this.#storedKeys(keys)
    const epoch = (await this.#storedEpoch(keys)) ?? Math.floor(this.#clock.now() / 1000)
    this.#commit.admit()
    this.#remove(keys, stored, epoch)
  }

  async #storedEpoch(keys: DocumentKeyspace): Promise<number | null> {
    const stored = await this.#disk.read((store) => store.get(keys.head))
    try {
      return stored === undefined ? null : decodeHead(keys.head, stored).epoch
    } catch {
      return null
    }
  }

  async #destroyLive(cell: DocumentCacheEntry, only: number | undefined): Promise<void> {
    const standing = known(cell)
    if (standing.state !== 'live') return
    if (only !== undefined && only !== standing.epoch) return
    await this.#commit.durable()
    const keys = cell.key
    const stored = await this.#storedKeys(keys)
    this.#commit.admit()
    // Reads the state again, because a compaction may have written another snapshot in the meantime.
    const latest = known(cell)
    const snapshots = latest.state === 'live' ? latest.marks.map(({ seq }) => keys.snapshot(seq)) : []
    snapshots.push(keys.attribution)
    const { epoch } = standing
    this.#remove(keys, [...stored, ...snapshots], epoch)
    this.#documents.set(cell, { state: 'deleted', epoch })
  }

  /**
   * Deletes all data of a log in one commit. A log that is created later must never contain parts of the old
   * log, even after a crash.
   */
  #remove(keys: DocumentKeyspace, stored: readonly Buffer[], epoch: number): void {
    const head = encodeHead(keys.head, { state: 'deleted', epoch })
    this.#rewriting.noted(keys, stored.length * updateBytesGuessed)
    // Nothing after this line may throw: the commit must contain all operations of the removal.
    for (const key of stored) this.#commit.delete(key)
    this.#commit.put(keys.head, head)
  }

  #storedKeys(keys: DocumentKeyspace): Promise<Buffer[]> {
    return this.#disk.read(async (store) => {
      const found: Buffer[] = []
      for (const range of keys.ranges) {
        for await (const page of store.pages(range, { values: false }))
          found.push(...page.map(([key]) => key))
      }
      return found
    })
  }
}
