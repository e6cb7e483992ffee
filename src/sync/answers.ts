export interface AnswersParts {
  /** What a client with this state vector lacks now, as a frame. */
  readonly prepare: (vector: Uint8Array) => Uint8Array
  /** Resolves when what has been prepared is durable; rejects when it never will be. */
  readonly durable: () => Promise<unknown>
  /** Is there no room to send? */
  readonly isFull: () => boolean
  readonly send: (frame: Uint8Array) => void
}

/**
 * Answers to a client's state vectors, one at a time: an answer may be a whole document, and a client that asks
 * without reading must not make us keep many. Of the vectors that wait only the last counts: it covers the others.
 */
export class Answers {
  readonly #parts: AnswersParts
  #vector: Uint8Array | null = null
  #state: 'idle' | 'answering' = 'idle'

  constructor(parts: AnswersParts) {
    this.#parts = parts
  }

  ask(vector: Uint8Array): void {
    this.#vector = Uint8Array.from(vector)
    this.resume()
  }

  /** Goes on with what waits; to be called again when there is room. */
  resume(): void {
    const vector = this.#vector
    if (this.#state === 'answering' || vector === null || this.#parts.isFull()) return
    this.#vector = null
    this.#state = 'answering'
    const frame = this.#parts.prepare(vector)
    this.#parts.durable().then(
      () => this.#answered(frame),
      () => {},
    )
  }

  #answered(frame: Uint8Array): void {
    this.#parts.send(frame)
    this.#state = 'idle'
    this.resume()
  }
}
