import type { Clock } from '../clock.ts'
import { ApiError } from '../errors.ts'

/** Backups that a server makes at the same time: each holds a moment of the store, whose old tables stay meanwhile. */
export const backupsAtOnceMax = 2

/** How long a reader may keep a backup waiting in all: a minute, and more for what it has been given. */
export const readerPace = { graceMs: 60_000, bytesPerMs: 64 }

/** Bounds backups under way, in number and time. */
export class BackupLimiter {
  readonly #clock: Clock
  #free = backupsAtOnceMax

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * The same bytes, which have a slot until they end, nobody wants them any more or their reader is too slow; null when
   * there is none.
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

/** Not a generator: one that was never begun would notice nothing of its end. */
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

  /** Only what the reader takes counts, not what the store does. */
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
