import { type Clock, steadyTime } from '../clock.ts'

export interface RateLimitOptions {
  /** Calls (or bytes) a second that can go on for ever. */
  readonly perSecond: number
  /** Calls (or bytes) at once, after a pause. At least 1. */
  readonly burst: number
  readonly clock: Clock
  /** Told what is used, where others count that, too. */
  readonly used?: CountUsage
}

type CountUsage = (key: string, cost: number) => void

/** Keys remembered before those that could make a full burst again are forgotten. */
const keysMax = 10_000
/** Busy keys that stay when there are too many. */
const keysKept = 9_000

/**
 * The generic cell rate algorithm (ITU-T I.371 annex A, as a virtual schedule): each key has one number, the time at
 * which it will have used up nothing of its burst.
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
   * Counts a call of `key`. Returns 0, or, when it is one too many and does not count, the milliseconds to wait. One
   * that costs more than is left is let in as long as anything is left: it is paid off by waiting afterwards.
   */
  take(key: string, cost = 1): number {
    const waitMs = this.waitMs(key)
    if (waitMs === 0) this.charge(key, cost)
    return waitMs
  }

  /** Returns the milliseconds until `take` counts a call of `key`; 0: it does now. Counts nothing. */
  waitMs(key: string): number {
    const waitMs = this.#restMs(key, this.#now()) - this.#toleranceMs
    return waitMs > roundingMs ? waitMs : 0
  }

  /** Returns how many calls (or bytes) of `key` count at the moment: the time that passes takes them off. */
  usedBy(key: string): number {
    return this.#restMs(key, this.#now()) / this.#intervalMs
  }

  /** Counts what `key` has used without having asked for it. */
  charge(key: string, cost: number): void {
    this.chargeOthers(key, cost)
    this.#used?.(key, cost)
  }

  /** Counts what others say that `key` has used. */
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
   * Keys that have rested lose nothing by being forgotten; should too many be busy, the oldest gain a burst. Room is
   * made for many at once: callers from ever new addresses must not have every call look at all keys.
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

/** So many calls of a key in a minute, which begins with the first of them. */
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

  /** Counts a call of `key`. False when it is one too many. */
  take(key: string): boolean {
    this.#used?.(key, 1)
    return this.#count(key, 1) <= this.perMinute
  }

  /** Counts calls of `key` that others say that there were. */
  chargeOthers(key: string, calls: number): void {
    this.#count(key, calls)
  }

  /** How many there have been in the minute. */
  #count(key: string, calls: number): number {
    const now = this.#now()
    const known = this.#minutes.get(key)
    const minute = known === undefined || known.endsAt <= now ? { endsAt: now + minuteMs, calls: 0 } : known
    minute.calls += calls
    if (minute === known) return minute.calls
    // Set anew, the keys are in the order in which their minutes end.
    this.#minutes.delete(key)
    this.#minutes.set(key, minute)
    for (const [oldest, { endsAt }] of this.#minutes) {
      if (endsAt > now && this.#minutes.size <= keysMax) break
      this.#minutes.delete(oldest)
    }
    return minute.calls
  }
}
