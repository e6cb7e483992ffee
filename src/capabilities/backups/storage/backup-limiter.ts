import { ApiError } from '../../../core/base/errors.ts'

/**
 * Maximum number of backups at the same time. Each backup keeps a snapshot of the store open, and the
 * snapshot keeps old tables on disk.
 */
export const backupsAtOnceMax = 2
/** Seconds after which a caller may try again while other backups are running. */
const busySeconds = 10

/** Limits the number of backups at the same time. */
export class BackupLimiter {
  #running = 0

  /**
   * Yields the chunks of a backup. The backup counts until its chunks end, or until its reader stops.
   * @throws ApiError RESOURCE_EXHAUSTED before the first chunk if too many backups are running
   */
  async *limited(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    if (this.#running === backupsAtOnceMax)
      throw new ApiError('backup/busy', 'other backups are running; try again', {
        retryAfterSeconds: busySeconds,
      })
    this.#running += 1
    try {
      yield* chunks
    } finally {
      this.#running -= 1
    }
  }
}
