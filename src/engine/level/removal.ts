import type { Clock } from '../../clock.ts'
import type { Key } from '../engine.ts'
import { type LiveStanding, mayCompact } from '../heads.ts'
import { inTurn, known } from './cells.ts'
import type { GroupCommit } from './commit.ts'
import type { Disk } from './disk.ts'
import type { DocumentCell, DocumentKeys, Documents } from './documents.ts'
import {
  DamagedRecord,
  decodeHead,
  decodeSnapshot,
  decodeUpdates,
  encodeHead,
  encodeSnapshot,
} from './records.ts'

interface Covered {
  /** Of the appends that the snapshot covers wholly. */
  readonly keys: readonly Buffer[]
  readonly changed: { readonly at: number; readonly by: string }
}

/** Takes updates out of logs: those a snapshot covers, or all. */
export class Removal {
  readonly #documents: Documents
  readonly #commit: GroupCommit
  readonly #disk: Disk
  readonly #clock: Clock

  constructor({
    documents,
    commit,
    disk,
    clock,
  }: { documents: Documents; commit: GroupCommit; disk: Disk; clock: Clock }) {
    this.#clock = clock
    this.#documents = documents
    this.#commit = commit
    this.#disk = disk
  }

  /** Appends go on meanwhile; if the log has been destroyed or compacted in between, nothing is done. */
  async compact(
    doc: Key,
    wanted: { epoch: number; expectBase: number; upTo: number },
    snapshot: Uint8Array,
  ): Promise<boolean> {
    return this.#pinned(doc, async (cell) => {
      await cell.ready
      if (!mayCompact(known(cell), wanted)) return false
      const bytes = new Uint8Array(snapshot)
      await this.#commit.durable()
      const keys = cell.key
      const covered = await this.#covered(keys, wanted)
      this.#commit.admit()
      const standing = known(cell)
      if (!mayCompact(standing, wanted)) return false
      if (covered === null) throw new DamagedRecord(`update ${wanted.upTo} is missing`)
      this.#replace(cell, { standing, upTo: wanted.upTo, covered, bytes })
      await this.#commit.durable()
      return true
    })
  }

  /** Appends wait meanwhile, and are refused then. */
  async destroy(doc: Key): Promise<void> {
    await this.#pinned(doc, async (cell) => {
      try {
        await inTurn(cell, () => this.#destroyLive(cell))
      } catch (error) {
        if (!(error instanceof DamagedRecord)) throw error
        await this.#destroyDamaged(cell.key)
      }
      await this.#commit.durable()
    })
  }

  /**
   * What cannot be read can still be removed. Memory holds nothing of such a document, and its appends fail until
   * this is durable. Where even the epoch is lost, the time in seconds is one that no log has had.
   */
  async #destroyDamaged(keys: DocumentKeys): Promise<void> {
    const updates = await this.#updateKeys(keys)
    const epoch = (await this.#storedEpoch(keys)) ?? Math.floor(this.#clock.now() / 1000)
    this.#commit.admit()
    this.#remove(keys, updates, epoch)
  }

  async #storedEpoch(keys: DocumentKeys): Promise<number | null> {
    const stored = await this.#disk.read((store) => store.get(keys.head))
    try {
      return stored === undefined ? null : decodeHead(keys.head, stored).epoch
    } catch {
      return null
    }
  }

  #replace(
    cell: DocumentCell,
    {
      standing,
      upTo,
      covered,
      bytes,
    }: { standing: LiveStanding; upTo: number; covered: Covered; bytes: Uint8Array },
  ): void {
    const keys = cell.key
    for (const key of covered.keys) this.#commit.delete(key)
    const { changed } = covered
    this.#commit.put(keys.snapshot, encodeSnapshot(keys.snapshot, { seq: upTo, changed, bytes }))
    const { epoch } = standing
    this.#commit.put(keys.head, encodeHead(keys.head, { state: 'live', epoch, base: upTo }))
    this.#documents.set(cell, { ...standing, base: upTo })
  }

  async #destroyLive(cell: DocumentCell): Promise<void> {
    const standing = known(cell)
    if (standing.state !== 'live') return
    await this.#commit.durable()
    const keys = cell.key
    const updates = await this.#updateKeys(keys)
    this.#commit.admit()
    const { epoch } = standing
    this.#documents.set(cell, { state: 'deleted', epoch })
    this.#remove(keys, updates, epoch)
  }

  #remove(keys: DocumentKeys, updates: readonly Buffer[], epoch: number): void {
    for (const key of updates) this.#commit.delete(key)
    this.#commit.delete(keys.snapshot)
    this.#commit.put(keys.head, encodeHead(keys.head, { state: 'deleted', epoch }))
  }

  #updateKeys(keys: DocumentKeys, before = Number.MAX_SAFE_INTEGER): Promise<Buffer[]> {
    return this.#disk.read(async (store) => {
      const found: Buffer[] = []
      const range = { gte: keys.update(0), lt: keys.update(before) }
      for await (const page of store.pages(range, { values: false })) found.push(...page.map(([key]) => key))
      return found
    })
  }

  /** Null when the update `upTo` is not there. */
  async #covered(
    keys: DocumentKeys,
    { expectBase, upTo }: { expectBase: number; upTo: number },
  ): Promise<Covered | null> {
    if (upTo === expectBase) return this.#coveredBefore(keys)
    const found = await this.#updateKeys(keys, upTo + 1)
    const lastKey = found.at(-1)
    const stored = lastKey && (await this.#disk.read((store) => store.get(lastKey)))
    const last = lastKey && stored ? decodeUpdates(lastKey, stored) : []
    const changed = last.find((entry) => entry.seq === upTo)
    if (changed === undefined) return null
    // An append of which the snapshot covers only a part stays whole; reading skips that part.
    const isWhole = last.at(-1)?.seq === upTo
    return { keys: isWhole ? found : found.slice(0, -1), changed: { at: changed.at, by: changed.by } }
  }

  /** The same updates as the snapshot that is there. */
  async #coveredBefore(keys: DocumentKeys): Promise<Covered | null> {
    const stored = await this.#disk.read((store) => store.get(keys.snapshot))
    return stored === undefined ? null : { keys: [], changed: decodeSnapshot(keys.snapshot, stored).changed }
  }

  async #pinned<T>(doc: Key, work: (cell: DocumentCell) => Promise<T>): Promise<T> {
    this.#commit.admit()
    const cell = this.#documents.pin(doc)
    try {
      return await work(cell)
    } finally {
      this.#documents.unpin(cell)
    }
  }
}
