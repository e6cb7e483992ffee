import { StoreUnavailableError } from '../../engine.ts'

/** Limit of accepted but not yet durable bytes; more are rejected. */
export const pendingBytesMaxDefault = 64 * 1024 * 1024
/** Minimum memory that a call counts for, in bytes. */
const callBytes = 64

/** Counter of bytes that are accepted and not yet durable. */
export class PendingBytes {
  readonly #max: number
  #bytes = 0

  constructor(max: number) {
    this.#max = max
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Counts a call until `work` has settled. @throws StoreUnavailableError if the limit is reached */
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
