/** Waits until `count` updates of this node are durable. */
export interface PositionRequest {
  readonly count: number
  /** Difference between the number of an update in the log and its count, if no other node appends before it. */
  readonly shift: number
  /** @param isExact no other node has appended before the update that was waited for */
  readonly resolve: (seq: number, isExact: boolean) => void
  readonly reject: (error: unknown) => void
}

/** Callers that wait for updates whose numbers are known only when they are durable, in the order of their counts. */
export class CommitWaiters {
  readonly #waiting: PositionRequest[] = []

  add(waiter: PositionRequest): void {
    this.#waiting.push(waiter)
  }

  /** Updates up to `count` are durable, under numbers that are larger by `shift`. */
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
