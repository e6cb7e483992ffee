import type { Clock } from '../../clock.ts'
import type { FormerLog, Key } from '../engine.ts'
import { adopted } from '../heads.ts'
import { inTurn, known } from './cells.ts'
import type { GroupCommit } from './commit.ts'
import type { DocumentCell, Documents } from './documents.ts'
import { encodeHead, encodeSnapshot } from './records.ts'

/** Takes logs over from other stores. */
export class Adoption {
  readonly #documents: Documents
  readonly #commit: GroupCommit
  readonly #clock: Clock

  constructor({ documents, commit, clock }: { documents: Documents; commit: GroupCommit; clock: Clock }) {
    this.#documents = documents
    this.#commit = commit
    this.#clock = clock
  }

  async adopt(doc: Key, log: FormerLog): Promise<boolean> {
    this.#commit.admit()
    return this.#documents.pinned(doc, async (cell) => {
      const isDone = await inTurn(cell, async () => this.#write(cell, log))
      await this.#commit.durable()
      return isDone
    })
  }

  /** Head and snapshot come in one commit. */
  #write(cell: DocumentCell, log: FormerLog): boolean {
    this.#commit.admit()
    const standing = adopted(known(cell), log, this.#clock.now())
    if (standing === null) return false
    const keys = cell.key
    if (log.state === 'live') {
      const { head: seq, changed, snapshot } = log
      const key = keys.snapshot(seq)
      this.#commit.put(key, encodeSnapshot(key, { seq, changed, bytes: new Uint8Array(snapshot) }))
    }
    this.#commit.put(keys.head, encodeHead(keys.head, standing))
    this.#documents.set(cell, standing)
    return true
  }
}
