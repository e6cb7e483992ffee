/** A caller that waits until `count` updates of this node are durable. */
export interface PositionRequest {
  readonly count: number
  /** Difference between the sequence number of an update and its count, if no other node appends first. */
  readonly shift: number
  /** @param isExact true if no other node has appended before the update that the caller waits for */
  readonly resolve: (seq: number, isExact: boolean) => void
  readonly reject: (error: unknown) => void
}

/**
 * Callers that wait for updates, in the order of their counts. The sequence numbers are only known when the
 * updates are durable.
 */
export class CommitWaiters {
  readonly #waiting: PositionRequest[] = []

  add(waiter: PositionRequest): void {
    this.#waiting.push(waiter)
  }

  /**
   * Resolves the callers that wait for the updates up to `count`. Their sequence numbers are larger than
   * their counts by `shift`.
   */
  answer(count: number, shift: number): void {
    while (this.#waiting.length > 0 && (this.#waiting[0] as PositionRequest).count <= count) {
      const first = this.#waiting.shift() as PositionRequest
      first.resolve(first.count + shift, first.shift === shift)
    }
  }

  reject(error: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}
