import { attempt } from '../../../base/errors.ts'
import type { Key } from '../../engine.ts'
import type { DocumentKeyspace } from '../../pairs/keyspaces.ts'
import { decodeHead, encodeHead } from '../../pairs/record-codec.ts'
import { DamagedRecordError } from '../../stored-record.ts'
import type { LevelCore } from '../store/level-core.ts'
import { updateBytesGuessed } from '../store/range-compaction.ts'
import { inEntryOrder, known } from '../store/write-through-cache.ts'
import type { DocumentCacheEntry, DocumentHeads } from './document-heads.ts'

/** Deletes logs with all their updates and snapshots. */
export class LogRemoval {
  readonly #core: LevelCore
  readonly #documents: DocumentHeads

  constructor(core: LevelCore, documents: DocumentHeads) {
    this.#core = core
    this.#documents = documents
  }

  /**
   * Deletes a log. Concurrent appends wait, and are then rejected.
   * @param only the expected epoch: if the log has another epoch, nothing is deleted, unless the log cannot
   * be read
   */
  async destroy(doc: Key, only?: number): Promise<void> {
    this.#core.commit.admit()
    await this.#documents.pinned(doc, async (cell) => {
      try {
        await inEntryOrder(cell, () => this.#destroyLive(cell, only))
      } catch (error) {
        if (!(error instanceof DamagedRecordError)) throw error
        await this.#destroyDamaged(cell.key)
      }
      await this.#core.commit.durable()
    })
  }

  /**
   * Deletes a document that cannot be read. Nothing of such a document is cached, and its appends fail until
   * the deletion is durable. If even the epoch cannot be read, the current time in seconds becomes the epoch,
   * because this number is greater than any earlier epoch.
   */
  async #destroyDamaged(keys: DocumentKeyspace): Promise<void> {
    const stored = await this.#storedKeys(keys)
    const epoch = (await this.#storedEpoch(keys)) ?? Math.floor(this.#core.clock.now() / 1000)
    this.#core.commit.admit()
    this.#remove(keys, stored, epoch)
  }

  async #storedEpoch(keys: DocumentKeyspace): Promise<number | null> {
    const stored = await this.#core.disk.read((store) => store.get(keys.head))
    return stored === undefined ? null : attempt(() => decodeHead(keys.head, stored).epoch, null)
  }

  async #destroyLive(cell: DocumentCacheEntry, only: number | undefined): Promise<void> {
    const standing = known(cell)
    if (standing.state !== 'live') return
    if (only !== undefined && only !== standing.epoch) return
    await this.#core.commit.durable()
    const keys = cell.key
    const stored = await this.#storedKeys(keys)
    this.#core.commit.admit()
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
    this.#core.rewriting.noted(keys, stored.length * updateBytesGuessed)
    // Nothing after this line may throw: the commit must contain all operations of the removal.
    for (const key of stored) this.#core.commit.delete(key)
    this.#core.commit.put(keys.head, head)
  }

  #storedKeys(keys: DocumentKeyspace): Promise<Buffer[]> {
    return this.#core.disk.read(async (store) => {
      const found: Buffer[] = []
      for (const range of keys.ranges) {
        for await (const page of store.pages(range, { values: false }))
          found.push(...page.map(([key]) => key))
      }
      return found
    })
  }
}
