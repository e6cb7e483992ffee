import type { Clock } from '../../../base/clock.ts'
import type {
  AppendOptions,
  AppendResult,
  AppendTo,
  DocumentLog,
  FenceStore,
  Key,
  LogUpdate,
} from '../../engine.ts'
import { checkFence } from '../../fences.ts'
import { checkJobs } from '../../job-state.ts'
import { resolveAppend } from '../../log-state.ts'
import type { OpenCalls } from '../../open-calls.ts'
import { encodeHead, encodeUpdates } from '../../pairs/record-codec.ts'
import type { LevelQueue, PinnedJobs } from '../jobs/queue.ts'
import type { GroupCommit } from '../store/group-commit.ts'
import { inEntryOrder, known } from '../store/write-through-cache.ts'
import type { DocumentHeads } from './document-heads.ts'
import { PendingAppend } from './pending-append.ts'

/**
 * Appends to logs. If the head of the log is in memory, `append` assigns the sequence numbers and encodes the
 * record before it returns. Two kinds of appends have to wait: appends without a head in memory, and appends
 * with jobs whose ids may have been used before. These appends, and all later appends to the same document, are done one after the other in the
 * order of the calls. The promises of one document also resolve in that order, because the group commit
 * resolves each promise directly, without another promise in between.
 */
export class AppendQueue {
  readonly #log: Pick<DocumentLog, 'load'>
  readonly #gate: OpenCalls
  readonly #documents: DocumentHeads
  readonly #commit: GroupCommit
  readonly #queue: LevelQueue
  readonly #clock: Clock
  readonly #fences: FenceStore

  constructor(
    log: Pick<DocumentLog, 'load'>,
    dependencies: {
      gate: OpenCalls
      documents: DocumentHeads
      commit: GroupCommit
      queue: LevelQueue
      clock: Clock
      fences: FenceStore
    },
  ) {
    this.#log = log
    this.#gate = dependencies.gate
    this.#documents = dependencies.documents
    this.#commit = dependencies.commit
    this.#queue = dependencies.queue
    this.#clock = dependencies.clock
    this.#fences = dependencies.fences
  }

  append(
    doc: Key,
    to: AppendTo,
    updates: readonly LogUpdate[],
    options: AppendOptions,
  ): Promise<AppendResult> {
    return new Promise((resolve, reject) => {
      if (updates.length === 0) throw new RangeError('an append without updates')
      checkJobs(options.jobs ?? [])
      this.#commit.admit()
      const call = new PendingAppend(
        this.#documents,
        this.#log,
        { doc, to, updates, options },
        resolve,
        reject,
      )
      const { knowledge, lastCall } = call.cell
      const isReady = knowledge.state === 'known' && lastCall === null
      const jobs = isReady ? this.#queue.pinNew(options.jobs ?? []) : null
      if (jobs === null) return this.#writeInOrder(call)
      this.#write(call, jobs)
      jobs.release()
    })
  }

  #writeInOrder(call: PendingAppend): void {
    call.keepCopies()
    const release = this.#commit.reserve(call.bytes)
    const write = async () => {
      const jobs = await this.#queue.pin(call.options.jobs ?? [])
      try {
        this.#commit.admit()
        this.#write(call, jobs)
      } finally {
        jobs.release()
      }
    }
    void this.#gate
      .run(() => inEntryOrder(call.cell, write))
      .catch((error: unknown) => call.refuse(error))
      .finally(release)
  }

  /** Adds the record of an append to the group commit. If the append is rejected, writes nothing. */
  #write(call: PendingAppend, jobs: PinnedJobs): void {
    const { cell, to, updates } = call
    const keys = cell.key
    try {
      checkFence(this.#fences, call.options)
      const log = resolveAppend(known(cell), to, call.options)
      const { epoch, marks, head } = log
      const [first, last] = [head + 1, head + updates.length]
      const record = encodeUpdates(keys.updatesCrc, first, this.#clock.now(), updates)
      const newHead = typeof to === 'number' ? null : encodeHead(keys.head, log)
      const key = keys.update(first)
      jobs.enqueue()
      // Nothing after this line may throw: the commit must contain all operations of the append.
      this.#documents.set(cell, { state: 'live', epoch, marks, head: last })
      if (newHead !== null) this.#commit.put(keys.head, newHead)
      this.#commit.put(key, record)
      call.written({ state: 'appended', epoch, first, last })
      this.#commit.wait(call)
    } catch (error) {
      call.refuse(error)
    }
  }
}
