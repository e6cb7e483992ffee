import type { Clock } from '../../clock.ts'
import type { Appended, AppendOptions, AppendTo, Key, LogUpdate } from '../engine.ts'
import { admit } from '../heads.ts'
import { inTurn, known } from './cells.ts'
import type { GroupCommit } from './commit.ts'
import { type DocumentCell, type Documents, keysOf } from './documents.ts'
import { namedError } from './naming.ts'
import type { LevelQueue } from './queue.ts'
import { encodeHead, encodeUpdates } from './records.ts'

/** One call, and the ends of the promise it was answered with. */
interface Call {
  readonly doc: Key
  readonly to: AppendTo
  readonly updates: readonly LogUpdate[]
  readonly options: AppendOptions
  readonly cell: DocumentCell
  readonly resolve: (appended: Appended) => void
  readonly reject: (error: unknown) => void
}

/**
 * Appends to logs. Where the head is known, a number is given and the bytes are copied before the call returns;
 * otherwise, and behind such a call, in the order of calls. The promises of one document resolve in that order too:
 * each is resolved by its group commit directly, with no other promise in between.
 */
export class Appends {
  readonly #documents: Documents
  readonly #commit: GroupCommit
  readonly #queue: LevelQueue
  readonly #clock: Clock

  constructor(parts: { documents: Documents; commit: GroupCommit; queue: LevelQueue; clock: Clock }) {
    this.#documents = parts.documents
    this.#commit = parts.commit
    this.#queue = parts.queue
    this.#clock = parts.clock
  }

  append(doc: Key, to: AppendTo, updates: readonly LogUpdate[], options: AppendOptions): Promise<Appended> {
    return new Promise((resolve, reject) => {
      if (updates.length === 0) throw new RangeError('an append without updates')
      this.#commit.admit()
      const cell = this.#documents.pin(doc)
      const call = { doc, to, updates, options, cell, resolve, reject }
      const isReady = cell.knowledge.state === 'known' && cell.turn === null && options.jobs === undefined
      if (isReady) this.#write(call)
      else this.#writeInTurn(call)
    })
  }

  /** What the caller passed may be a view on a buffer that is used again, so it is copied before waiting. */
  #writeInTurn(call: Call): void {
    const updates = call.updates.map(({ bytes, by }) => ({ bytes: new Uint8Array(bytes), by }))
    const { cell, options } = call
    const written = inTurn(cell, async () => {
      const jobs = await this.#queue.pin(options.jobs ?? [])
      try {
        this.#commit.admit()
        this.#write({ ...call, updates }, () => jobs.enqueue())
      } finally {
        jobs.release()
      }
    })
    written.catch((error: unknown) => this.#refuse(call, error))
  }

  /** Nothing is written when it is refused. */
  #write(call: Call, enqueue?: () => void): void {
    const { cell, to, updates, options } = call
    let appended: Appended
    try {
      const log = admit(known(cell), to, options)
      appended = { epoch: log.epoch, first: log.head + 1, last: log.head + updates.length }
      this.#documents.set(cell, { ...log, head: appended.last })
    } catch (error) {
      return this.#refuse(call, error)
    }
    const keys = keysOf(cell.key)
    if (typeof to !== 'number') {
      this.#commit.put(keys.head, encodeHead(keys.head, { state: 'live', epoch: appended.epoch, base: 0 }))
    }
    const key = keys.update(appended.first)
    this.#commit.put(key, encodeUpdates(key, appended.first, this.#clock.now(), updates))
    enqueue?.()
    this.#commit.wait({
      durable: () => {
        this.#documents.unpin(cell)
        call.resolve(appended)
      },
      lost: (error) => {
        this.#documents.unpin(cell)
        call.reject(error)
      },
    })
  }

  #refuse({ cell, doc, reject }: Call, error: unknown): void {
    this.#documents.unpin(cell)
    reject(namedError('document', doc, error))
  }
}
