import type { Clock } from '../clock.ts'
import type { UpdateSummary } from '../update/summary.ts'
import type { Member } from './member.ts'

/** A vetted update that has arrived and waits for the end of the turn. */
export interface Incoming {
  readonly bytes: Uint8Array
  readonly summary: UpdateSummary
  readonly from: Member
  /** `offer` answers our state vector: most of it is known, its delete set always in full. */
  readonly kind: 'update' | 'offer'
}

/** An update that depends on something the room doesn't have. */
export interface HeldUpdate {
  readonly incoming: Incoming
  readonly until: number
}

/** How long a member may take to send what is missing. */
export const gapMs = 10_000

/**
 * Updates waiting for what they build on. Neither stored nor relayed; dropped after `gapMs`, or when their bytes
 * exceed the limit, the oldest first: their sender still has them and offers them again at its next handshake.
 */
export class HeldUpdates {
  #updates: HeldUpdate[] = []
  #bytes = 0
  readonly #bytesMax: number
  readonly #clock: Clock

  constructor(bytesMax: number, clock: Clock) {
    this.#bytesMax = bytesMax
    this.#clock = clock
  }

  get size(): number {
    return this.#updates.length
  }

  add(incoming: Incoming): void {
    this.#updates.push({ incoming, until: this.#clock.now() + gapMs })
    this.#bytes += incoming.bytes.length
    while (this.#bytes > this.#bytesMax) this.#bytes -= this.#updates.shift()?.incoming.bytes.length ?? 0
  }

  /** Takes out everything that is still worth trying. */
  take(): HeldUpdate[] {
    const now = this.#clock.now()
    const taken = this.#updates.filter((update) => update.until > now)
    this.#updates = []
    this.#bytes = 0
    return taken
  }

  /** Puts back what is still missing something. */
  restore(updates: readonly HeldUpdate[]): void {
    this.#updates = [...updates, ...this.#updates]
    this.#bytes = this.#updates.reduce((sum, update) => sum + update.incoming.bytes.length, 0)
  }
}
