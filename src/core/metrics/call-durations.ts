import type { Clock } from '../base/clock.ts'

/** A REST call that took a long time. */
interface SlowCall {
  /** Path of the operation. */
  readonly path: string
  /** Ids of the organization and the document of the request; null if it has none. */
  readonly organizationId: string | null
  readonly documentId: string | null
  readonly httpCode: number
  /** Time from the start of the request until its connection had the response, or was closed. */
  readonly durationMs: number
  /** Time of the end of the call, in epoch milliseconds. */
  readonly at: number
  readonly requestId: string
}

/** Duration in ms from which on a call counts as slow. */
const slowCallMs = 100
/** Time in ms for which a slow call is kept. */
export const slowCallsKeptMs = 300_000
export const slowCallsMax = 20

/** Keeps the slowest REST calls of the last 5 minutes in memory. */
export class CallDurations {
  readonly #clock: Clock
  /** The slowest first. */
  #calls: readonly SlowCall[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Adds a call that has just ended, if it is one of the slowest. */
  note(call: Omit<SlowCall, 'at'>): void {
    if (call.durationMs < slowCallMs) return
    const added = { ...call, at: this.#clock.now() }
    this.#calls = [...this.list(), added]
      .toSorted((one, other) => other.durationMs - one.durationMs)
      .slice(0, slowCallsMax)
  }

  /** Returns the kept calls, the slowest first. */
  list(): readonly SlowCall[] {
    const from = this.#clock.now() - slowCallsKeptMs
    return this.#calls.filter(({ at }) => at >= from)
  }
}
