import type { Clock } from '../../clock.ts'
import { type Key, StoreUnavailable } from '../engine.ts'
import type { Gate } from '../gate.ts'
import { type LiveStanding, mayCompact, type WantedBase } from '../heads.ts'
import { anchorOf, dropped, marksAfter } from '../marks.ts'
import { DamagedRecord } from '../named-damage.ts'
import { known } from './cells.ts'
import type { GroupCommit } from './commit.ts'
import type { Disk } from './disk.ts'
import type { DocumentCell, DocumentKeys, Documents } from './documents.ts'
import { recordOf } from './read-entries.ts'
import { decodeSnapshot, decodeUpdates, encodeHead, encodeSnapshot } from './records.ts'
import { type Rewriting, updateBytesGuessed } from './rewriting.ts'
import type { Store } from './store.ts'

/** Stored appends that are deleted in one commit: their keys are some hundred kilobytes. */
export const deletedPerCommitMax = 2_000

interface Changed {
  readonly at: number
  readonly by: string
}

export interface CompactionParts {
  readonly gate: Gate
  readonly documents: Documents
  readonly commit: GroupCommit
  readonly disk: Disk
  readonly clock: Clock
  readonly rewriting: Rewriting
}

/** Puts snapshots in front of updates, and deletes the updates that are out of reach then. */
export class Compaction {
  readonly #gate: Gate
  readonly #documents: Documents
  readonly #commit: GroupCommit
  readonly #disk: Disk
  readonly #clock: Clock
  readonly #rewriting: Rewriting

  constructor({ gate, documents, commit, disk, clock, rewriting }: CompactionParts) {
    this.#gate = gate
    this.#documents = documents
    this.#commit = commit
    this.#disk = disk
    this.#clock = clock
    this.#rewriting = rewriting
  }

  /** Appends go on meanwhile; if the log has been destroyed or compacted in between, nothing is done. */
  async compact(doc: Key, wanted: WantedBase, snapshot: Uint8Array): Promise<boolean> {
    this.#commit.admit()
    return this.#documents.pinned(doc, async (cell) => {
      await cell.ready
      if (!mayCompact(known(cell), wanted)) return false
      const bytes = new Uint8Array(snapshot)
      await this.#commit.durable()
      const changed = await this.#disk.read((store) => readChangedAt(store, cell.key, wanted))
      this.#commit.admit()
      const standing = known(cell)
      if (!mayCompact(standing, wanted)) return false
      if (changed === null) throw new DamagedRecord(`update ${wanted.upTo} is missing`)
      const compacted = this.#replace(cell, standing, wanted, { changed, bytes })
      await this.#commit.durable()
      await this.#sweep(cell, compacted)
      return true
    })
  }

  #replace(
    cell: DocumentCell,
    standing: LiveStanding,
    { upTo, keepSince }: WantedBase,
    { changed, bytes }: { changed: Changed; bytes: Uint8Array },
  ): LiveStanding {
    const keys = cell.key
    const marks = marksAfter(standing.marks, { seq: upTo, at: this.#clock.now() }, keepSince)
    const gone = dropped(standing.marks, marks)
    for (const { seq } of gone) this.#commit.delete(keys.snapshot(seq))
    const updates = anchorOf(marks).seq - anchorOf(standing.marks).seq
    this.#rewriting.noted(keys, gone.length * bytes.length + updates * updateBytesGuessed)
    const key = keys.snapshot(upTo)
    this.#commit.put(key, encodeSnapshot(key, { seq: upTo, changed, bytes }))
    const compacted = { ...standing, marks }
    this.#commit.put(keys.head, encodeHead(keys.head, compacted))
    this.#documents.set(cell, compacted)
    return compacted
  }

  /** The compaction is done, whatever becomes of this: what is left is swept the next time. */
  async #sweep(cell: DocumentCell, compacted: LiveStanding): Promise<void> {
    try {
      await this.#deleteCovered(cell, compacted)
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
    }
  }

  /** Deletes the appends that the anchor covers wholly. One that it covers in part stays whole; reading skips that part. */
  async #deleteCovered(cell: DocumentCell, { epoch, marks, head }: LiveStanding): Promise<void> {
    const keys = cell.key
    const anchor = anchorOf(marks).seq
    if (anchor === 0) return
    const end = keys.update(anchor + 1)
    const lt = anchor === head ? end : await this.#disk.read((store) => recordOf(store, keys, anchor + 1))
    for (let gte = keys.update(0); this.#gate.isOpen; ) {
      const covered = await this.#disk.read((store) => firstKeys(store, { gte, lt }))
      const last = covered.at(-1)
      this.#commit.admit()
      const standing = known(cell)
      // In a log made anew the same keys mean something else.
      if (last === undefined || standing.state !== 'live' || standing.epoch !== epoch) return
      for (const key of covered) this.#commit.delete(key)
      await this.#commit.durable()
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

/** Time and user of the update `upTo`; null when it is not there. */
async function readChangedAt(
  store: Store,
  keys: DocumentKeys,
  { expectBase, upTo }: WantedBase,
): Promise<Changed | null> {
  const isSame = upTo === expectBase
  const key = isSame ? keys.snapshot(upTo) : await recordOf(store, keys, upTo)
  const stored = await store.get(key)
  if (stored === undefined) return null
  if (isSame) return decodeSnapshot(key, stored).changed
  return decodeUpdates(key, stored).find(({ seq }) => seq === upTo) ?? null
}
