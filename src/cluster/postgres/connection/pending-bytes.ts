import { StoreUnavailableError } from '../../../core/store/engine.ts'

/**
 * Default maximum of accepted bytes that are not yet durable. When it is reached, further writes are
 * rejected.
 */
export const pendingBytesMaxDefault = 64 * 1024 * 1024
/** Number of bytes that each call counts in addition to its data, because of its objects in memory. */
const callBytes = 64

/** Counts the bytes that are accepted but not yet durable. */
export class PendingBytes {
  readonly #max: number
  #bytes = 0

  constructor(max: number) {
    this.#max = max
  }

  get bytes(): number {
    return this.#bytes
  }

  /**
   * Runs `work`, and counts `bytes` as pending until `work` has settled.
   * @throws StoreUnavailableError if the limit is reached
   */
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
