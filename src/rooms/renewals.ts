import type { Clock } from '../clock.ts'
import { requestRenewal } from './farewell.ts'
import type { Member } from './room/member.ts'

/**
 * States that are said because of the questions of one window: what others were not told a moment ago all are told, and
 * who doesn't tell back by itself says all it sees.
 */
const statesPerWindow = 1_000
/** Who has not answered for so long is asked again for the next one who has to see it. */
const againMs = 1_000
/** A client that is shown here. */
export interface RenewableState {
  readonly member: Member
  /** The latest that anybody is known to have heard of. */
  readonly clock: number
}

interface RenewalOptions {
  readonly clock: Clock
  /** Shortest time between two rounds of questions. */
  readonly windowMs: number
  /** Null: it is shown no more. */
  readonly find: (clientId: number) => RenewableState | null
  /** Have all others been told a moment ago what it shows? Then the answer is for few. */
  readonly isKnown: (clientId: number) => boolean
  /** How many states clients see. */
  readonly count: () => number
}

interface Asked {
  readonly clock: number
  readonly at: number
}

/** Has clients say again what they show, under a later clock, for those who have heard of it under the one it has. */
export class Renewals {
  readonly #parts: RenewalOptions
  readonly #waiting = new Set<number>()
  readonly #asked = new Map<number, Asked>()
  #lastRound = 0
  /** So many states come of it: where it is what several windows may have, the next round is so much later. */
  #lastStates = 0
  #cancel: (() => void) | null = null

  constructor(parts: RenewalOptions) {
    this.#parts = parts
  }

  want(clientId: number): void {
    const asked = this.#asked.get(clientId)
    if (asked !== undefined && this.#parts.clock.now() < asked.at + againMs) return
    this.#waiting.add(clientId)
    this.#schedule()
  }

  /** A client has said something under a clock; is that the answer? */
  answered(clientId: number, clock: number): boolean {
    const asked = this.#asked.get(clientId)
    return asked !== undefined && clock > asked.clock && this.#asked.delete(clientId)
  }

  forget(clientId: number): void {
    this.#waiting.delete(clientId)
    this.#asked.delete(clientId)
  }

  close(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#waiting.clear()
  }

  #schedule(): void {
    if (this.#cancel !== null || this.#waiting.size === 0) return
    const { clock, windowMs } = this.#parts
    const restMs = windowMs * Math.max(1, Math.round(this.#lastStates / statesPerWindow))
    const sinceMs = clock.now() - this.#lastRound
    // A clock that has been set back is no reason to wait longer.
    const wait = sinceMs >= restMs ? 0 : restMs - Math.max(0, sinceMs)
    this.#cancel = clock.after(wait, () => this.#askSome())
  }

  #askSome(): void {
    this.#cancel = null
    this.#lastRound = this.#parts.clock.now()
    this.#lastStates = 0
    for (const clientId of this.#waiting) {
      if (this.#lastStates >= statesPerWindow) break
      this.#waiting.delete(clientId)
      this.#lastStates += this.#ask(clientId)
    }
    this.#schedule()
  }

  /** Returns how many states come of it. */
  #ask(clientId: number): number {
    const isKnown = this.#parts.isKnown(clientId)
    const found = this.#parts.find(clientId)
    const clock = found === null ? null : requestRenewal(found.member, clientId, found.clock)
    if (found === null || clock === null) return 0
    this.#asked.set(clientId, { clock, at: this.#lastRound })
    return found.member.encoder.tellsBack && isKnown ? 1 : this.#parts.count()
  }
}
