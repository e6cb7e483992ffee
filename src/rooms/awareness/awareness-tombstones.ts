import { type AwarenessText, removedText } from '../../update/awareness.ts'

/** Maximum number of removed client ids that a room remembers. The oldest are dropped first. */
const tombstonesMax = 1_000
/** Maximum number of removals that are sent to a client that catches up. The latest are sent. */
const sentMax = 200

interface Tombstone {
  /** The last clock that was shown. */
  readonly clock: number
  readonly userId: string
}

/**
 * Clients that no longer have a state in the room. Other clients ignore a state of such a client whose clock
 * is not higher than the last one, and no other user may use its id.
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

  /** Must be called when the client has a state again. */
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
