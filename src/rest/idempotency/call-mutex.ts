import { type Clock, endsWithin } from '../../core/base/clock.ts'
import { keyName } from '../../core/store/key-encoding.ts'
import { busy, checkSameRequest, type IdempotencyLimits, type IdempotentCall } from './idempotent-call.ts'

interface Running {
  readonly call: IdempotentCall
  readonly done: Promise<void>
  waiting: number
}

/** Runs calls with the same idempotency key of the same caller one at a time. */
export class CallMutex {
  readonly #clock: Clock
  readonly #limits: Pick<IdempotencyLimits, 'waitMs' | 'waiting'>
  readonly #running = new Map<string, Running>()

  constructor(clock: Clock, limits: Pick<IdempotencyLimits, 'waitMs' | 'waiting'>) {
    this.#clock = clock
    this.#limits = limits
  }

  /**
   * Runs `work` when no other call with the same key is running.
   * @throws ApiError INVALID_ARGUMENT if the running call is not the same call; ABORTED if the running call
   * takes too long, or if too many calls wait for it; errors of `work`
   */
  async run<T>(call: IdempotentCall, work: () => Promise<T>): Promise<T> {
    const name = keyName([...call.part, call.id])
    const lateAt = this.#clock.now() + this.#limits.waitMs
    for (let running = this.#running.get(name); running !== undefined; running = this.#running.get(name)) {
      checkSameRequest(running.call, call)
      await this.#wait(running, lateAt - this.#clock.now())
    }
    let end = (): void => {}
    const done = new Promise<void>((resolve) => {
      end = resolve
    })
    this.#running.set(name, { call, done, waiting: 0 })
    try {
      return await work()
    } finally {
      this.#running.delete(name)
      end()
    }
  }

  async #wait(running: Running, ms: number): Promise<void> {
    if (ms <= 0 || running.waiting >= this.#limits.waiting) throw busy()
    running.waiting += 1
    const hasEnded = await endsWithin(this.#clock, ms, running.done)
    running.waiting -= 1
    if (!hasEnded) throw busy()
  }
}
