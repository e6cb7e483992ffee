/** Longest time that timers support, in milliseconds. */
export const timerMax = 2_147_483_647

/** Reason why a call ended early. */
export type Ended = 'timeout' | 'aborted'

/** The time limit of a call, together with the signal of its caller. */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #caller: AbortSignal | undefined
  readonly #endsAt: number
  readonly #timer: ReturnType<typeof setTimeout>
  #ended: Ended | null = null

  /** @param caller signal that ends the call before its time */
  constructor(timeoutMs: number, caller: AbortSignal | undefined) {
    this.#endsAt = performance.now() + timeoutMs
    this.#timer = setTimeout(() => this.#end('timeout'), timeoutMs)
    this.#caller = caller
    if (caller?.aborted === true) this.#end('aborted')
    else caller?.addEventListener('abort', this.#onAbort)
  }

  /** Why the call has ended; null while it may continue. */
  get ended(): Ended | null {
    return this.#ended
  }

  /** Aborts when the time is over or the caller aborts. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Returns whether the call may continue after this number of milliseconds. */
  hasTimeFor(milliseconds: number): boolean {
    return performance.now() + milliseconds < this.#endsAt
  }

  /** Resolves when the call ends. */
  async ending(): Promise<void> {
    const { signal } = this
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  }

  /** Releases the timer and the listener. Call it when the call is done. */
  close(): void {
    clearTimeout(this.#timer)
    this.#caller?.removeEventListener('abort', this.#onAbort)
  }

  readonly #onAbort = (): void => this.#end('aborted')

  #end(reason: Ended): void {
    this.#ended ??= reason
    this.#controller.abort()
  }
}

/** Resolves after this number of milliseconds, or when the signal aborts. */
export async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  const deadline = new Deadline(milliseconds, signal)
  await deadline.ending()
  deadline.close()
}
