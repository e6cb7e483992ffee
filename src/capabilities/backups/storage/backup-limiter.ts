import type { Clock } from '../../../core/base/clock.ts'
import { ApiError } from '../../../core/base/errors.ts'

/**
 * Maximum number of backups at the same time. Each backup keeps a snapshot of the store open, and the
 * snapshot keeps old tables on disk.
 */
export const backupsAtOnceMax = 2

/**
 * Maximum total time for which a reader may stall: `graceMs`, plus 1 ms for each `bytesPerMs` bytes that the
 * reader has received.
 */
export const readerPace = { graceMs: 60_000, bytesPerMs: 64 }

/**
 * Limits the number of backups at the same time, and the time for which a slow reader may keep a backup open.
 */
export class BackupLimiter {
  readonly #clock: Clock
  #free = backupsAtOnceMax

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Reserves a slot for a backup, and returns its chunks. Returns null if no slot is free. The slot is
   * released when the chunks end, when the reader stops, or when the reader is too slow.
   */
  take(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> | null {
    if (this.#free === 0) return null
    this.#free -= 1
    const release = (): void => {
      this.#free += 1
    }
    const backup = new SlottedBackup(chunks[Symbol.asyncIterator](), this.#clock, release)
    return { [Symbol.asyncIterator]: () => backup }
  }
}

/**
 * A backup that has a slot. This is an iterator instead of a generator, because a generator runs its
 * `finally` only if it was started.
 */
class SlottedBackup implements AsyncIterator<Uint8Array, undefined> {
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #clock: Clock
  readonly #release: () => void
  #state: 'going' | 'tooSlow' | 'ended' = 'going'
  #givenBytes = 0
  #waitedMs = 0
  #resume: () => void = () => undefined

  constructor(chunks: AsyncIterator<Uint8Array>, clock: Clock, release: () => void) {
    this.#chunks = chunks
    this.#clock = clock
    this.#release = release
    this.#await()
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#resume()
    if (this.#state === 'tooSlow')
      throw new ApiError('backup/too-slow', 'the reader of the backup is too slow; try again')
    try {
      const { done, value } = await this.#chunks.next()
      if (done !== true) {
        this.#givenBytes += value.length
        if (this.#state === 'going') this.#await()
        return { done: false, value }
      }
    } catch (error) {
      this.#end('ended')
      throw error
    }
    this.#end('ended')
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#resume()
    this.#end('ended')
    await this.#chunks.return?.()
    return { done: true, value: undefined }
  }

  #end(state: 'tooSlow' | 'ended'): void {
    if (this.#state === 'going') this.#release()
    this.#state = state
  }

  /** Starts the timer of the reader. Time in which the store reads the next chunk does not count. */
  #await(): void {
    const since = this.#clock.now()
    const leftMs = readerPace.graceMs + this.#givenBytes / readerPace.bytesPerMs - this.#waitedMs
    const cancel = this.#clock.after(Math.max(0, leftMs), () => {
      this.#end('tooSlow')
      void this.#chunks.return?.().catch(() => undefined)
    })
    this.#resume = () => {
      cancel()
      this.#waitedMs += this.#clock.now() - since
      this.#resume = () => undefined
    }
  }
}
