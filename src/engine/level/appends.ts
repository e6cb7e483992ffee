import type { Clock } from '../../clock.ts'
import type { Appended, AppendOptions, AppendTo, Job, Key, LogUpdate, StoreUnavailable } from '../engine.ts'
import type { Gate } from '../gate.ts'
import { admit } from '../heads.ts'
import { inTurn, known } from './cells.ts'
import type { GroupCommit, Waiter } from './commit.ts'
import type { DocumentCell, Documents } from './documents.ts'
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
      const cell = this.#documents.pin(doc)
      const call = { doc, to, updates, options, cell, resolve, reject }
      const isReady = cell.knowledge.state === 'known' && cell.turn === null && options.jobs === undefined
      if (isReady) this.#write(call)
      else this.#writeInTurn(call)
    })
  }

  /** What the caller passed may be a view on a buffer that is used again, so it is copied before waiting. */
  #writeInTurn(given: Call): void {
    const call = copyOf(given)
    const bytes = call.updates.reduce((sum, update) => sum + update.bytes.length, 0)
    const release = this.#commit.reserve(bytes)
    const turn = async () => {
      const jobs = await this.#queue.pin(call.options.jobs ?? [])
      try {
        this.#commit.admit()
        this.#write(call, () => jobs.enqueue())
      } finally {
        jobs.release()
      }
    }
    const decided = this.#gate.run(() => inTurn(call.cell, turn)).catch((error) => this.#refuse(call, error))
    void decided.finally(release)
  }

  /** Nothing is written when it is refused. */
  #write(call: Call, enqueue?: () => void): void {
    const { cell, to, updates, options } = call
    const keys = cell.key
    try {
      const log = admit(known(cell), to, options)
      const appended = { epoch: log.epoch, first: log.head + 1, last: log.head + updates.length }
      const key = keys.update(appended.first)
      const record = encodeUpdates(key, appended.first, this.#clock.now(), updates)
      this.#documents.set(cell, { ...log, head: appended.last })
      if (typeof to !== 'number') this.#commit.put(keys.head, encodeHead(keys.head, log))
      this.#commit.put(key, record)
      enqueue?.()
      this.#commit.wait(new Waiting(call, appended, this.#documents))
    } catch (error) {
      this.#refuse(call, error)
    }
  }

  #refuse({ cell, doc, reject }: Call, error: unknown): void {
    this.#documents.unpin(cell)
    reject(namedError('document', doc, error))
  }
}

const copyOf = (call: Call): Call => ({
  ...call,
  updates: call.updates.map(({ bytes, by }) => ({ bytes: new Uint8Array(bytes), by })),
  options: { ...call.options, jobs: (call.options.jobs ?? []).map(copyOfJob) },
})

const copyOfJob = (job: Job): Job => ({ ...job, payload: new Uint8Array(job.payload) })

/** An append that has its numbers and waits for the disk. */
class Waiting implements Waiter {
  readonly #call: Call
  readonly #appended: Appended
  readonly #documents: Documents

  constructor(call: Call, appended: Appended, documents: Documents) {
    this.#call = call
    this.#appended = appended
    this.#documents = documents
  }

  durable(): void {
    this.#documents.unpin(this.#call.cell)
    this.#call.resolve(this.#appended)
  }

  lost(error: StoreUnavailable): void {
    this.#documents.unpin(this.#call.cell)
    this.#call.reject(error)
  }
}
