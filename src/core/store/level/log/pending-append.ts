import { toCorruptRecord } from '../../damaged-record.ts'
import type {
  Appended,
  AppendOptions,
  AppendResult,
  AppendTo,
  DocumentLog,
  Key,
  LogUpdate,
  StoreUnavailableError,
} from '../../engine.ts'
import { copyOfJob } from '../../job-state.ts'
import { HeadMovedError, movedResult } from '../../log-state.ts'
import { copyOfUpdate } from '../../stored-author.ts'
import type { WriteWaiter } from '../store/group-commit.ts'
import type { DocumentCacheEntry, DocumentHeads } from './document-heads.ts'

/**
 * One call of `append`. Exists until the promise of the call settles; until then, the cell of the document
 * stays pinned.
 */
export class PendingAppend implements WriteWaiter {
  readonly cell: DocumentCacheEntry
  readonly to: AppendTo
  updates: readonly LogUpdate[]
  options: AppendOptions
  readonly #doc: Key
  readonly #documents: DocumentHeads
  readonly #log: Pick<DocumentLog, 'load'>
  readonly #resolve: (result: AppendResult | Promise<AppendResult>) => void
  readonly #reject: (error: unknown) => void
  #appended: Appended | null = null

  constructor(
    documents: DocumentHeads,
    log: Pick<DocumentLog, 'load'>,
    call: { doc: Key; to: AppendTo; updates: readonly LogUpdate[]; options: AppendOptions },
    resolve: (result: AppendResult | Promise<AppendResult>) => void,
    reject: (error: unknown) => void,
  ) {
    this.#documents = documents
    this.#log = log
    this.#doc = call.doc
    this.to = call.to
    this.updates = call.updates
    this.options = call.options
    this.#resolve = resolve
    this.#reject = reject
    this.cell = documents.pin(call.doc)
  }

  /**
   * Copies the updates and jobs. Call this method before you wait for anything, because the caller may reuse
   * their buffers.
   */
  keepCopies(): void {
    this.updates = this.updates.map(copyOfUpdate)
    this.options = { ...this.options, jobs: (this.options.jobs ?? []).map(copyOfJob) }
  }

  get bytes(): number {
    return this.updates.reduce((sum, { bytes }) => sum + bytes.length, 0)
  }

  /** Notes that the sequence numbers are assigned. The append then waits until it is durable. */
  written(appended: Appended): void {
    this.#appended = appended
  }

  durable(): void {
    this.#documents.unpin(this.cell)
    this.#resolve(this.#appended as Appended)
  }

  lost(error: StoreUnavailableError): void {
    this.refuse(error)
  }

  refuse(error: unknown): void {
    this.#documents.unpin(this.cell)
    if (error instanceof HeadMovedError)
      this.#resolve(movedResult(this.#log, this.#doc, this.to, this.options, error))
    else this.#reject(toCorruptRecord('document', this.#doc, error))
  }
}
