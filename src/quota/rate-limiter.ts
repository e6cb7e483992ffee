import { type Clock, steadyTime } from '../clock.ts'

export interface RateLimitOptions {
  /** Sustained rate in calls (or bytes) per second. */
  readonly perSecond: number
  /** Maximum number of calls (or bytes) at once after a pause. At least 1. */
  readonly burst: number
  readonly clock: Clock
  /** Called with the usage, if other nodes also count it. */
  readonly used?: CountUsage
}

type CountUsage = (key: string, cost: number) => void

/** Maximum number of tracked keys. Beyond it, keys that could make a full burst again are evicted. */
const keysMax = 10_000
/** Number of keys that remain if too many are busy. */
const keysKept = 9_000

/**
 * The generic cell rate algorithm (ITU-T I.371 annex A, as a virtual schedule). Each key has one number: the
 * time at which its full burst is available again.
 */
export class RateLimiter {
  readonly perSecond: number
  readonly #intervalMs: number
  readonly #toleranceMs: number
  readonly #now: () => number
  readonly #used: CountUsage | undefined
  readonly #restedAt = new Map<string, number>()

  constructor({ perSecond, burst, clock, used }: RateLimitOptions) {
    this.#used = used
    this.perSecond = perSecond
    this.#intervalMs = 1000 / perSecond
    this.#toleranceMs = this.#intervalMs * (burst - 1)
    this.#now = steadyTime(clock)
  }

  /**
   * Counts a call of `key`. Returns 0, or the milliseconds to wait if the call exceeds the limit and does not
   * count. A call whose cost exceeds the remainder is accepted if any remainder is left; later calls wait
   * longer for it.
   */
  take(key: string, cost = 1): number {
    const waitMs = this.waitMs(key)
    if (waitMs === 0) this.charge(key, cost)
    return waitMs
  }

  /** Returns the milliseconds until `take` would count a call of `key`; 0: at once. Counts nothing. */
  waitMs(key: string): number {
    const waitMs = this.#restMs(key, this.#now()) - this.#toleranceMs
    return waitMs > roundingMs ? waitMs : 0
  }

  /** Returns how many calls (or bytes) of `key` count at the moment; the number decreases over time. */
  usedBy(key: string): number {
    return this.#restMs(key, this.#now()) / this.#intervalMs
  }

  /** Counts usage of `key` that `take` did not check. */
  charge(key: string, cost: number): void {
    this.chargeOthers(key, cost)
    this.#used?.(key, cost)
  }

  /** Counts usage of `key` on other nodes. */
  chargeOthers(key: string, cost: number): void {
    const now = this.#now()
    this.#set(key, now + this.#restMs(key, now) + this.#intervalMs * cost)
  }

  /** Returns the milliseconds until `key` can make a full burst. */
  #restMs(key: string, now: number): number {
    return Math.max(0, (this.#restedAt.get(key) ?? now) - now)
  }

  #set(key: string, restedAt: number): void {
    this.#restedAt.set(key, restedAt)
    if (this.#restedAt.size > keysMax) this.#forget()
  }

  /**
   * Evicting a key with a full burst changes nothing. If too many keys are busy, the oldest ones gain a
   * burst. Each eviction makes room for many keys, so that calls from many new addresses do not each scan all
   * keys.
   */
  #forget(): void {
    const now = this.#now()
    for (const [key, restedAt] of this.#restedAt) if (restedAt <= now) this.#restedAt.delete(key)
    if (this.#restedAt.size <= keysKept) return
    for (const key of this.#restedAt.keys()) {
      if (this.#restedAt.size <= keysKept) break
      this.#restedAt.delete(key)
    }
  }
}

/** Sums of fractions of a millisecond are not exact. */
const roundingMs = 1e-6

const minuteMs = 60_000

/** Limits the calls of a key in a minute, which begins with the first of them. */
export class MinuteLimiter {
  readonly perMinute: number
  readonly #now: () => number
  readonly #used: CountUsage | undefined
  readonly #minutes = new Map<string, { readonly endsAt: number; calls: number }>()

  constructor({ perMinute, clock, used }: { perMinute: number; clock: Clock; used?: CountUsage }) {
    this.#used = used
    this.perMinute = perMinute
    this.#now = steadyTime(clock)
  }

  /** Counts a call of `key`. Returns false if it exceeds the limit. */
  take(key: string): boolean {
    this.#used?.(key, 1)
    return this.#count(key, 1) <= this.perMinute
  }

  /** Counts calls of `key` on other nodes. */
  chargeOthers(key: string, calls: number): void {
    this.#count(key, calls)
  }

  /** Returns the number of calls in the current minute. */
  #count(key: string, calls: number): number {
    const now = this.#now()
    const known = this.#minutes.get(key)
    const minute = known === undefined || known.endsAt <= now ? { endsAt: now + minuteMs, calls: 0 } : known
    minute.calls += calls
    if (minute === known) return minute.calls
    // The key is set again, so that the keys are in the order in which their minutes end.
    this.#minutes.delete(key)
    this.#minutes.set(key, minute)
    for (const [oldest, { endsAt }] of this.#minutes) {
      if (endsAt > now && this.#minutes.size <= keysMax) break
      this.#minutes.delete(oldest)
    }
    return minute.calls
  }
}
