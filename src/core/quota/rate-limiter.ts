import { type Clock, steadyTime } from '../base/clock.ts'
import type { Rate } from '../config/option-parsers.ts'

type CountUsage = (key: string, cost: number) => void

/**
 * Maximum number of tracked keys. If there are more keys, those whose full burst is available again are
 * evicted.
 */
const keysMax = 10_000
/**
 * Maximum number of keys after an eviction. To reach this number, keys without their full burst are also
 * evicted.
 */
const keysKept = 9_000

/**
 * Limits the rate of calls by key, with the generic cell rate algorithm (ITU-T I.371 annex A, as a virtual
 * schedule). Stores one number for each key: the time at which the full burst of the key is available again.
 */
export class RateLimiter {
  readonly perSecond: number
  readonly #intervalMs: number
  readonly #toleranceMs: number
  readonly #now: () => number
  readonly #used: CountUsage | undefined
  readonly #restedAt = new Map<string, number>()

  /**
   * @param rate the permitted rate of calls (or bytes). `perSecond` must not be 0
   * @param used called with each usage on this node, so that other nodes can count it
   */
  constructor(rate: Rate, clock: Clock, used?: CountUsage) {
    this.#used = used
    this.perSecond = rate.perSecond
    this.#intervalMs = 1000 / rate.perSecond
    this.#toleranceMs = this.#intervalMs * (rate.burst - 1)
    this.#now = steadyTime(clock)
  }

  /**
   * Counts a call of `key` and returns 0 if the limit permits the call. Otherwise does not count the call,
   * and returns the number of milliseconds to wait. A call is permitted if any part of the burst is
   * available, even if its cost is higher than this part. Later calls then wait correspondingly longer.
   */
  take(key: string, cost = 1): number {
    const waitMs = this.waitMs(key)
    if (waitMs === 0) this.charge(key, cost)
    return waitMs
  }

  /**
   * Returns the milliseconds until `take` would accept a call of `key`; 0 if it would accept the call now.
   * Counts nothing.
   */
  waitMs(key: string): number {
    const waitMs = this.#restMs(key, this.#now()) - this.#toleranceMs
    return waitMs > roundingMs ? waitMs : 0
  }

  /**
   * Returns the number of calls (or bytes) of `key` that currently count against its burst. The number
   * decreases over time.
   */
  usedBy(key: string): number {
    return this.#restMs(key, this.#now()) / this.#intervalMs
  }

  /** Counts usage of `key` on this node, even if it exceeds the limit. */
  charge(key: string, cost: number): void {
    this.chargeOthers(key, cost)
    this.#used?.(key, cost)
  }

  /** Counts usage of `key` that happened on other nodes. */
  chargeOthers(key: string, cost: number): void {
    const now = this.#now()
    this.#set(key, now + this.#restMs(key, now) + this.#intervalMs * cost)
  }

  /** Returns the milliseconds until the full burst of `key` is available again. */
  #restMs(key: string, now: number): number {
    return Math.max(0, (this.#restedAt.get(key) ?? now) - now)
  }

  #set(key: string, restedAt: number): void {
    this.#restedAt.set(key, restedAt)
    if (this.#restedAt.size > keysMax) this.#forget()
  }

  /**
   * Evicts keys. First evicts keys whose full burst is available, which changes nothing for these keys. If
   * too many keys remain, also evicts the oldest ones, which then have a full burst again. Each eviction
   * makes room for many keys, so that calls from many new addresses do not each cause a scan of all keys.
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

/** Tolerance in milliseconds, because sums of fractions of a millisecond are not exact. */
const roundingMs = 1e-6

const minuteMs = 60_000

/** Limits the number of calls of a key in one minute. The minute begins with the first call. */
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

  /** Counts a call of `key`, even if it exceeds the limit. Returns whether the call is within the limit. */
  take(key: string): boolean {
    this.#used?.(key, 1)
    return this.#count(key, 1) <= this.perMinute
  }

  /** Counts calls of `key` that happened on other nodes. */
  chargeOthers(key: string, calls: number): void {
    this.#count(key, calls)
  }

  /** Adds calls to the current minute of a key. Returns the number of calls in this minute. */
  #count(key: string, calls: number): number {
    const now = this.#now()
    const known = this.#minutes.get(key)
    const minute = known === undefined || known.endsAt <= now ? { endsAt: now + minuteMs, calls: 0 } : known
    minute.calls += calls
    if (minute === known) return minute.calls
    // The key is deleted and then set again, so that the keys stay in the order in which their minutes end.
    this.#minutes.delete(key)
    this.#minutes.set(key, minute)
    for (const [oldest, { endsAt }] of this.#minutes) {
      if (endsAt > now && this.#minutes.size <= keysMax) break
      this.#minutes.delete(oldest)
    }
    return minute.calls
  }
}
