import type { Room } from '../rooms/room.ts'
import type { Protocol } from './protocols/message.ts'

/** Who has asked. */
export interface Asker {
  readonly encoder: Protocol
  /** Is there no room to send? */
  readonly isFull: boolean
  answer(frame: Uint8Array): void
}

/**
 * Answers to a client's state vectors, one at a time: an answer may be a whole document, and a client that asks
 * without reading must not make us keep many. Of the vectors that wait only the last counts: it covers the others.
 */
export class Answers {
  readonly #room: Room
  readonly #asker: Asker
  #vector: Uint8Array | null = null
  #state: 'idle' | 'answering' = 'idle'

  constructor(room: Room, asker: Asker) {
    this.#room = room
    this.#asker = asker
  }

  ask(vector: Uint8Array): void {
    this.#vector = Uint8Array.from(vector)
    this.resume()
  }

  /** Goes on with what waits; to be called again when there is room. */
  resume(): void {
    const vector = this.#vector
    if (this.#state === 'answering' || vector === null || this.#asker.isFull) return
    this.#vector = null
    this.#state = 'answering'
    // What has been sent before the question is part of the answer.
    this.#room.turn()
    const frame = this.#room.answer(this.#asker.encoder, vector)
    if (frame === null) return
    this.#room.durable.then(
      () => this.#answered(frame),
      () => {},
    )
  }

  #answered(frame: Uint8Array): void {
    this.#asker.answer(frame)
    this.#state = 'idle'
    this.resume()
  }
}
