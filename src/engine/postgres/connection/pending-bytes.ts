import { StoreUnavailableError } from '../../engine.ts'

/** Accepted but not yet durable bytes, beyond which nothing more is accepted. */
export const pendingBytesMaxDefault = 64 * 1024 * 1024
/** A call costs at least this much memory, however small. */
const callBytes = 64

/** Bytes that were accepted and are not durable yet. */
export class PendingBytes {
  readonly #max: number
  #bytes = 0

  constructor(max: number) {
    this.#max = max
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Counts a call until `work` has ended. @throws StoreUnavailableError when nothing more is accepted */
  async during<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    if (this.#bytes > this.#max) throw new StoreUnavailableError('too many bytes wait for the database')
    this.#bytes += callBytes + bytes
    try {
      return await work()
    } finally {
      this.#bytes -= callBytes + bytes
    }
  }
}
