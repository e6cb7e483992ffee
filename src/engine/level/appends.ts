import type { Clock } from '../../clock.ts'
import type { Appended, AppendOptions, AppendTo, Key, LogUpdate } from '../engine.ts'
import type { Gate } from '../gate.ts'
import { admit } from '../heads.ts'
import { inTurn, known } from './cells.ts'
import type { GroupCommit } from './commit.ts'
import type { Documents } from './documents.ts'
import { PendingAppend } from './pending-append.ts'
import type { LevelQueue } from './queue.ts'
import { encodeHead, encodeUpdates } from './records.ts'

/**
 * Appends to logs. Where the head is known, a number is given and the bytes are copied before the call returns;
 * otherwise, and behind such a call, in the order of calls. The promises of one document resolve in that order too:
 * each is resolved by its group commit directly, with no other promise in between.
 */
export class Appends {
  readonly #gate: Gate
  readonly #documents: Documents
  readonly #commit: GroupCommit
  readonly #queue: LevelQueue
  readonly #clock: Clock

  constructor(parts: {
    gate: Gate
    documents: Documents
    commit: GroupCommit
    queue: LevelQueue
    clock: Clock
  }) {
    this.#gate = parts.gate
    this.#documents = parts.documents
    this.#commit = parts.commit
    this.#queue = parts.queue
    this.#clock = parts.clock
  }

  append(doc: Key, to: AppendTo, updates: readonly LogUpdate[], options: AppendOptions): Promise<Appended> {
    return new Promise((resolve, reject) => {
      if (updates.length === 0) throw new RangeError('an append without updates')
      this.#commit.admit()
      const call = new PendingAppend(this.#documents, { doc, to, updates, options }, resolve, reject)
      const { knowledge, turn } = call.cell
      if (knowledge.state === 'known' && turn === null && options.jobs === undefined) this.#write(call)
      else this.#writeInTurn(call)
    })
  }

  #writeInTurn(call: PendingAppend): void {
    call.keepCopies()
    const release = this.#commit.reserve(call.bytes)
    const turn = async () => {
      const jobs = await this.#queue.pin(call.options.jobs ?? [])
      try {
        this.#commit.admit()
        this.#write(call, () => jobs.enqueue())
      } finally {
        jobs.release()
      }
    }
    void this.#gate
      .run(() => inTurn(call.cell, turn))
      .catch((error: unknown) => call.refuse(error))
      .finally(release)
  }

  /** Nothing is written when it is refused. */
  #write(call: PendingAppend, enqueue?: () => void): void {
    const { cell, to, updates } = call
    const keys = cell.key
    try {
      const log = admit(known(cell), to, call.options)
      const { epoch, marks, head } = log
      const [first, last] = [head + 1, head + updates.length]
      const record = encodeUpdates(keys.updatesCrc, first, this.#clock.now(), updates)
      this.#documents.set(cell, { state: 'live', epoch, marks, head: last })
      if (typeof to !== 'number') this.#commit.put(keys.head, encodeHead(keys.head, log))
      this.#commit.put(keys.update(first), record)
      enqueue?.()
      call.written({ epoch, first, last })
      this.#commit.wait(call)
    } catch (error) {
      call.refuse(error)
    }
  }
}
