/** A caller that waits until `count` updates of this node are durable. */
interface PositionRequest {
  readonly count: number
  /**
   * The expected difference between the sequence number of an update and its count. If another node appends
   * first, the actual difference is larger.
   */
  readonly shift: number
  /** @param isExact true if no other node has appended before the update that the caller waits for */
  readonly resolve: (seq: number, isExact: boolean) => void
  readonly reject: (error: unknown) => void
}

/**
 * Callers that wait until updates of this node are durable, in the order of their counts. A count is the
 * number of updates that this node has committed by then. The sequence numbers of the updates are not known
 * before they are durable.
 */
export class CommitWaiters {
  readonly #waiting: PositionRequest[] = []

  add(waiter: PositionRequest): void {
    this.#waiting.push(waiter)
  }

  /**
   * Resolves the callers that wait for the first `count` updates or for fewer. The sequence number of an
   * update is its count plus `shift`.
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
