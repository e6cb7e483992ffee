import { type AwarenessText, removedText } from '../../update/awareness.ts'

/** Client ids that a room remembers; the oldest are dropped first. */
const tombstonesMax = 1_000
/** A client that catches up receives the last ones, up to this number. */
const sentMax = 200

interface Tombstone {
  /** Last clock shown. */
  readonly clock: number
  readonly userId: string
}

/**
 * Clients that no longer have a state in the room. Other clients ignore a state whose clock is not higher than the last
 * one, and no other user may use their ids.
 */
export class AwarenessTombstones {
  readonly #clients = new Map<number, Tombstone>()

  get(clientId: number): Tombstone | undefined {
    return this.#clients.get(clientId)
  }

  add(clientId: number, tombstone: Tombstone): void {
    this.#clients.delete(clientId)
    this.#clients.set(clientId, tombstone)
    if (this.#clients.size <= tombstonesMax) return
    for (const oldest of this.#clients.keys()) return void this.#clients.delete(oldest)
  }

  /** Call when the client has a state again. */
  delete(clientId: number): void {
    this.#clients.delete(clientId)
  }

  /** Returns the latest removals, for a client that may have missed them. */
  texts(): readonly AwarenessText[] {
    return [...this.#clients]
      .slice(-sentMax)
      .map(([clientId, { clock }]) => ({ clientId, clock, text: removedText }))
  }
}
