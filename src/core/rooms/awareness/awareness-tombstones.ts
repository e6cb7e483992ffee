import { type AwarenessText, removedText } from '../../update/awareness.ts'

/** Maximum number of removed client ids that a room remembers. The oldest are dropped first. */
const tombstonesMax = 1_000
/**
 * Maximum number of removals that are sent to a client that has missed messages. The latest removals are
 * sent.
 */
const sentMax = 200

interface Tombstone {
  /** Clock of the removal: the last clock that the members have received for the client. */
  readonly clock: number
  readonly userId: string
}

/**
 * The clients that no longer have a state in the room. A tombstone keeps the last clock, because the members
 * ignore a new state of the client whose clock is not higher. It also keeps the user, because no other user
 * may use the client id.
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

  /** Removes the tombstone. Must be called when the client has a state again. */
  delete(clientId: number): void {
    this.#clients.delete(clientId)
  }

  /** Returns the latest removals (at most `sentMax`), for a client that may have missed them. */
  texts(): readonly AwarenessText[] {
    return [...this.#clients]
      .slice(-sentMax)
      .map(([clientId, { clock }]) => ({ clientId, clock, text: removedText }))
  }
}
