import type { Clock } from '../../../base/clock.ts'
import type { AdoptedLog, Key } from '../../engine.ts'
import { adoptedState } from '../../log-state.ts'
import { encodeAttributionRecord } from '../../pairs/attribution-record.ts'
import { encodeHead, encodeSnapshot } from '../../pairs/record-codec.ts'
import type { GroupCommit } from '../store/group-commit.ts'
import { inEntryOrder, known } from '../store/write-through-cache.ts'
import type { DocumentCacheEntry, DocumentHeads } from './document-heads.ts'

/** Takes over logs from other stores. */
export class LogAdoption {
  readonly #documents: DocumentHeads
  readonly #commit: GroupCommit
  readonly #clock: Clock

  constructor({ documents, commit, clock }: { documents: DocumentHeads; commit: GroupCommit; clock: Clock }) {
    this.#documents = documents
    this.#commit = commit
    this.#clock = clock
  }

  async adopt(doc: Key, log: AdoptedLog): Promise<boolean> {
    this.#commit.admit()
    return this.#documents.pinned(doc, async (cell) => {
      const isDone = await inEntryOrder(cell, async () => this.#write(cell, log))
      await this.#commit.durable()
      return isDone
    })
  }

  /**
   * Writes the head and the snapshot of an adopted log in one commit. Returns false, and writes nothing, if
   * the log must not be adopted.
   */
  #write(cell: DocumentCacheEntry, log: AdoptedLog): boolean {
    this.#commit.admit()
    const standing = adoptedState(known(cell), log, this.#clock.now())
    if (standing === null) return false
    const keys = cell.key
    const head = encodeHead(keys.head, standing)
    if (log.state === 'live') {
      const { head: seq, changed, snapshot, attribution } = log
      const key = keys.snapshot(seq)
      const record = encodeSnapshot(key, { seq, changed, bytes: snapshot })
      if (attribution) this.#commit.put(keys.attribution, encodeAttributionRecord(keys, seq, attribution))
      this.#commit.put(key, record)
    }
    this.#commit.put(keys.head, head)
    this.#documents.set(cell, standing)
    return true
  }
}
