import { errorCode } from '../../../core/base/errors.ts'
import { Semaphore } from '../../../core/base/semaphore.ts'
import { DocumentRejectedError, type Merged, mergeStored } from '../../../core/rooms/log/merge-stored.ts'
import { DeadlineExceededError, WorkerThread } from '../../../core/rooms/threads/thread.ts'
import { taskResult } from '../../../core/rooms/threads/thread-task.ts'

export interface MergeLimits {
  /** Maximum size of a document in bytes, as Yjs encodes it. */
  readonly documentBytesMax: number
  /** Maximum milliseconds to read the updates of one document. */
  readonly documentMsMax: number
}

/**
 * Maximum bytes of updates that the event loop merges itself. Yjs takes at most about 2 s for any updates of this size.
 */
const inlineBytesMax = 65_536

/**
 * Merges the updates of documents on a thread, one document after the other. The thread is ended at the deadline of a
 * document: no limit of steps covers all the work of Yjs. The caller must end it.
 */
export class MergeThread {
  readonly #limits: MergeLimits
  readonly #thread = new WorkerThread()
  readonly #turn = new Semaphore({ total: 1 })

  constructor(limits: MergeLimits) {
    this.#limits = limits
  }

  /**
   * Merges and vets updates.
   * @throws DocumentRejectedError as for `mergeStored`; also if the document exceeds a limit or the memory of the thread
   */
  async merge(updates: readonly Uint8Array[]): Promise<Merged> {
    const bytes = updates.reduce((sum, { length }) => sum + length, 0)
    const merged = bytes <= inlineBytesMax ? mergeStored(updates) : await this.#onThread(updates)
    const { documentBytesMax } = this.#limits
    if (merged.bytes.length <= documentBytesMax) return merged
    throw new DocumentRejectedError(
      `it has ${merged.bytes.length} bytes; the largest document has ${documentBytesMax} (WEFT_MAX_DOCUMENT_BYTES)`,
    )
  }

  end(): Promise<void> {
    return this.#thread.end()
  }

  async #onThread(updates: readonly Uint8Array[]): Promise<Merged> {
    const { documentMsMax } = this.#limits
    const outcome = await this.#turn
      .run('', () => this.#thread.run({ is: 'merge', updates }, documentMsMax))
      .catch((error: unknown) => {
        if (error instanceof DeadlineExceededError)
          throw new DocumentRejectedError(`it takes longer than ${documentMsMax / 1000} s to read`)
        if (errorCode(error) === 'ERR_WORKER_OUT_OF_MEMORY')
          throw new DocumentRejectedError('there is not enough memory to read it')
        throw error
      })
    const { merged, problem } = taskResult<'merge'>(outcome)
    if (merged === null) throw new DocumentRejectedError(problem)
    return merged
  }
}
