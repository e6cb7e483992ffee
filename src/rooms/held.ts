import type { Clock } from '../clock.ts'
import { mayBeWhole, type UpdateSummary } from '../update/summary.ts'
import type { Member } from './member.ts'

/** A vetted update that has arrived and waits for the end of the turn. */
export interface Incoming {
  readonly bytes: Uint8Array
  readonly summary: UpdateSummary
  readonly from: Member
  /** `offer` answers our state vector: most of it is known, its delete set always in full. */
  readonly kind: 'update' | 'offer'
  /** Called when all of it is part of the document, before that is durable; null: nobody asks. Must not throw. */
  readonly taken: (() => void) | null
}

/** An update that depends on something the room doesn't have. */
export interface HeldUpdate {
  readonly incoming: Incoming
  readonly until: number
}

/** How long a member may take to send what is missing. */
export const gapMs = 10_000
/** Updates held at once, a room: each is looked at again whenever something has been accepted. */
const heldMax = 200

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

  hasOf(member: Member): boolean {
    return this.#updates.some(({ incoming }) => incoming.from === member)
  }

  add(incoming: Incoming): void {
    // A copy: as it came it is a view on all that was read with it.
    const kept = { ...incoming, bytes: new Uint8Array(incoming.bytes) }
    this.#updates.push({ incoming: kept, until: this.#clock.now() + gapMs })
    this.#bytes += incoming.bytes.length
    while (this.#bytes > this.#bytesMax || this.#updates.length > heldMax) this.#dropOldest()
  }

  /** Takes out what may have become whole, and forgets what has waited too long. */
  take(clocks: ReadonlyMap<number, number>): HeldUpdate[] {
    const now = this.#clock.now()
    const alive = this.#updates.filter((update) => update.until > now)
    const taken = alive.filter(({ incoming }) => mayBeWhole(incoming.summary, clocks))
    this.#replace(alive.filter((update) => !taken.includes(update)))
    return taken
  }

  /** Puts back what is still missing something. */
  restore(updates: readonly HeldUpdate[]): void {
    this.#replace([...updates, ...this.#updates])
  }

  #replace(updates: HeldUpdate[]): void {
    this.#updates = updates
    this.#bytes = updates.reduce((sum, update) => sum + update.incoming.bytes.length, 0)
  }

  #dropOldest(): void {
    this.#bytes -= this.#updates.shift()?.incoming.bytes.length ?? 0
  }
}
