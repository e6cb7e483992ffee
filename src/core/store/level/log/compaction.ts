import { type Key, StoreUnavailableError } from '../../engine.ts'
import {
  type CompactionRequest,
  canCompact,
  droppedSnapshots,
  type LiveLogState,
  oldestSnapshot,
  snapshotsAfterCompaction,
} from '../../log-state.ts'
import type { DocumentKeyspace } from '../../pairs/keyspaces.ts'
import {
  decodeSnapshot,
  decodeUpdates,
  encodeAttributionRecord,
  encodeHead,
  encodeSnapshotInTicks,
} from '../../pairs/record-codec.ts'
import { DamagedRecordError } from '../../stored-record.ts'
import type { LevelCore } from '../store/level-core.ts'
import { updateBytesGuessed } from '../store/range-compaction.ts'
import type { Store } from '../store/store.ts'
import { known } from '../store/write-through-cache.ts'
import type { DocumentCacheEntry, DocumentHeads } from './document-heads.ts'
import { recordOf } from './read-log.ts'

/**
 * Maximum number of stored appends that one commit deletes. The keys of this many appends take a few hundred
 * kilobytes.
 */
export const deletedPerCommitMax = 2_000

/** An attribution has at least one byte. */
const noAuthors = new Uint8Array()

interface CompactedState {
  readonly snapshot: Uint8Array
  readonly attribution: Uint8Array | null
  /** Id of a user who is not stored as the user of the last change. */
  readonly forget: string | undefined
}

/** Writes the snapshots of compactions, and deletes the updates that become unreachable. */
export class LevelCompaction {
  readonly #core: LevelCore
  readonly #documents: DocumentHeads

  constructor(core: LevelCore, documents: DocumentHeads) {
    this.#core = core
    this.#documents = documents
  }

  /**
   * Writes the snapshot, then deletes the updates that the snapshot makes unnecessary. Appends continue
   * meanwhile. Returns false, and writes nothing, if the log has been destroyed or compacted in the meantime.
   */
  async compact(
    doc: Key,
    wanted: CompactionRequest,
    { snapshot, attribution, forget }: CompactedState,
  ): Promise<boolean> {
    this.#core.commit.admit()
    return this.#documents.pinned(doc, async (cell) => {
      await cell.ready
      if (!canCompact(known(cell), wanted)) return false
      await this.#core.commit.durable()
      const found = await this.#core.disk.read((store) => readChangedAt(store, cell.key, wanted))
      const changed = found?.by === forget && found !== null ? { at: found.at, by: '' } : found
      const { upTo: seq } = wanted
      const record =
        changed && (await encodeSnapshotInTicks(cell.key.snapshot(seq), { seq, changed, bytes: snapshot }))
      this.#core.commit.admit()
      const standing = known(cell)
      if (!canCompact(standing, wanted)) return false
      if (record === null) throw new DamagedRecordError(`update ${wanted.upTo} is missing`)
      const compacted = this.#replace(cell, standing, wanted, { record, attribution })
      // No file may contain the id of a forgotten user.
      if (forget !== undefined) this.#core.rewriting.noted(cell.key, Number.POSITIVE_INFINITY)
      await this.#core.commit.durable()
      await this.#sweep(cell, compacted)
      return true
    })
  }

  #replace(
    cell: DocumentCacheEntry,
    standing: LiveLogState,
    wanted: CompactionRequest,
    { record, attribution }: { record: Buffer; attribution: Uint8Array | null },
  ): LiveLogState {
    const { upTo, keepSince } = wanted
    const keys = cell.key
    const marks = snapshotsAfterCompaction(
      standing.marks,
      { seq: upTo, at: this.#core.clock.now() },
      keepSince,
    )
    const compacted = { ...standing, marks }
    // Written without authors too, so that `DocumentHeads.isAbsent` finds a log that has lost its head.
    const authors = encodeAttributionRecord(keys, upTo, attribution ?? noAuthors)
    const head = encodeHead(keys.head, compacted)
    const gone = droppedSnapshots(standing.marks, marks).map(({ seq }) => keys.snapshot(seq))
    const updates = oldestSnapshot(marks).seq - oldestSnapshot(standing.marks).seq
    const replaced = gone.length * record.length + authors.length
    this.#core.rewriting.noted(keys, replaced + updates * updateBytesGuessed)
    // Nothing after this line may throw: the commit must contain all operations of the compaction.
    for (const each of gone) this.#core.commit.delete(each)
    this.#core.commit.put(keys.snapshot(upTo), record)
    this.#core.commit.put(keys.attribution, authors)
    this.#core.commit.put(keys.head, head)
    this.#documents.set(cell, compacted)
    return compacted
  }

  /**
   * Deletes the updates that the snapshot covers. The compaction counts as done even if the deletion fails;
   * the next compaction deletes the remaining updates.
   */
  async #sweep(cell: DocumentCacheEntry, compacted: LiveLogState): Promise<void> {
    try {
      await this.#deleteCovered(cell, compacted)
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
    }
  }

  /**
   * Deletes the appends that the oldest snapshot covers completely. An append that is covered only in part is
   * kept; readers skip its covered part.
   */
  async #deleteCovered(cell: DocumentCacheEntry, { epoch, marks, head }: LiveLogState): Promise<void> {
    const keys = cell.key
    const anchor = oldestSnapshot(marks).seq
    if (anchor === 0) return
    const end = keys.update(anchor + 1)
    const lt =
      anchor === head ? end : await this.#core.disk.read((store) => recordOf(store, keys, anchor + 1))
    for (let gte = keys.update(0); this.#core.gate.isOpen; ) {
      const covered = await this.#core.disk.read((store) => firstKeys(store, { gte, lt }))
      const last = covered.at(-1)
      this.#core.commit.admit()
      const standing = known(cell)
      // If the document was created again in the meantime, the same keys belong to the new log and must not
      // be deleted.
      if (last === undefined || standing.state !== 'live' || standing.epoch !== epoch) return
      for (const key of covered) this.#core.commit.delete(key)
      await this.#core.commit.durable()
      gte = last
    }
  }
}

async function firstKeys(store: Store, range: { gte: Buffer; lt: Buffer }): Promise<Buffer[]> {
  const found: Buffer[] = []
  for await (const page of store.pages(range, { values: false, limit: deletedPerCommitMax })) {
    found.push(...page.map(([key]) => key))
  }
  return found
}

/** Returns the time and user of the update `upTo`; null if the update is missing. */
async function readChangedAt(
  store: Store,
  keys: DocumentKeyspace,
  { expectBase, upTo }: CompactionRequest,
): Promise<{ readonly at: number; readonly by: string } | null> {
  const isSame = upTo === expectBase
  const key = isSame ? keys.snapshot(upTo) : await recordOf(store, keys, upTo)
  const stored = await store.get(key)
  if (stored === undefined) return null
  if (isSame) return decodeSnapshot(key, stored).changed
  return decodeUpdates(key, stored).find(({ seq }) => seq === upTo) ?? null
}
