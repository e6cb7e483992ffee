import { pauseAfter } from '../../core/base/backoff.ts'

/** Milliseconds after a message in which others join its read, and their random part in addition. */
const joinMs = 100
const spreadMs = 200
/** Pauses before repeated requests. */
export const retryPauses = { firstMs: 1_000, maxMs: 30_000 }

/** Repeats a read when its result may have changed. Reads never overlap, so an old result cannot replace a newer one. */
export class EndpointReads {
  readonly #read: (signal: AbortSignal) => Promise<boolean>
  #isStarted = false
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Time at which the timer ends (`Date.now()`). */
  #dueAtMs = 0
  /** Ends the read that runs. */
  #abort: AbortController | null = null
  /** Whether something has changed during the read that runs. */
  #isOutdated = false
  #failures = 0

  /** @param read returns false after a temporary error; it must not throw, and must do nothing after an abort */
  constructor(read: (signal: AbortSignal) => Promise<boolean>) {
    this.#read = read
  }

  start(delayMs: number): void {
    this.#isStarted = true
    globalThis.document?.addEventListener('visibilitychange', this.#shown)
    this.readIn(delayMs)
  }

  stop(): void {
    this.#isStarted = false
    globalThis.document?.removeEventListener('visibilitychange', this.#shown)
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#abort?.abort()
    this.#abort = null
  }

  /** Must be called after a message about a change. A hidden page reads when it is shown. */
  changed(): void {
    // Not all pages read at the same time.
    if (globalThis.document?.visibilityState !== 'hidden') this.readIn(joinMs + Math.random() * spreadMs)
  }

  /** Reads after some milliseconds, unless a read starts earlier. */
  readIn(delayMs: number): void {
    const dueAtMs = Date.now() + delayMs
    if (!this.#isStarted || (this.#timer !== undefined && this.#dueAtMs <= dueAtMs)) return
    clearTimeout(this.#timer)
    this.#dueAtMs = dueAtMs
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#isOutdated = true
      if (this.#abort === null) void this.#run()
    }, delayMs)
  }

  readonly #shown = (): void => {
    if (document.visibilityState === 'visible') this.readIn(0)
  }

  async #run(): Promise<void> {
    const abort = new AbortController()
    this.#abort = abort
    this.#isOutdated = false
    const isRead = await this.#read(abort.signal)
    if (abort.signal.aborted) return
    this.#abort = null
    this.#failures = isRead ? 0 : this.#failures + 1
    if (!isRead) this.readIn(pauseAfter(retryPauses, this.#failures))
    else if (this.#isOutdated) this.readIn(0)
  }
}
