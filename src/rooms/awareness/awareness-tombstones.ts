import { type AwarenessText, removedText } from '../../update/awareness.ts'

/** Client ids that are remembered; the oldest are forgotten first. */
const departedMax = 1_000
/** Of these, how many a client that catches up is told of. */
const departedShownMax = 200

interface Departure {
  /** Last clock shown. */
  readonly clock: number
  readonly userId: string
  /** When, as members came and clients went. */
  readonly turn: number
}

/** Clients that show nothing any more: others ignore a state whose clock isn't later, and nobody else may be them. */
export class AwarenessTombstones {
  readonly #clients = new Map<number, Departure>()

  get(clientId: number): Departure | undefined {
    return this.#clients.get(clientId)
  }

  add(clientId: number, departure: Departure): void {
    this.#clients.delete(clientId)
    this.#clients.set(clientId, departure)
    if (this.#clients.size <= departedMax) return
    for (const oldest of this.#clients.keys()) return void this.#clients.delete(oldest)
  }

  /** It is back. */
  delete(clientId: number): void {
    this.#clients.delete(clientId)
  }

  /** For somebody who may have missed that they have gone: the last of them. */
  texts(): readonly AwarenessText[] {
    return [...this.#clients]
      .slice(-departedShownMax)
      .map(([clientId, { clock }]) => ({ clientId, clock, text: removedText }))
  }
}
