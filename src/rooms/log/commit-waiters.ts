/** Who waits until so many updates of this node are durable. */
interface PositionRequest {
  readonly count: number
  /** By how much the number of an update in the log is larger than its count, if nobody else appends before it. */
  readonly shift: number
  readonly resolve: (answer: CommitPosition) => void
  readonly reject: (error: unknown) => void
}

/** Number of the last update asked for; `isExact`: nobody else's got in before it. */
export interface CommitPosition {
  readonly seq: number
  readonly isExact: boolean
}

/** Those who wait for updates to be durable whose numbers are known only then. */
export class CommitWaiters {
  readonly #waiting: PositionRequest[] = []

  add(count: number, shift: number): Promise<CommitPosition> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ count, shift, resolve, reject })
    })
  }

  /** Updates up to `count` are durable, under numbers that are larger by `shift`. */
  answer(count: number, shift: number): void {
    while (this.#waiting.length > 0 && (this.#waiting[0] as PositionRequest).count <= count) {
      const first = this.#waiting.shift() as PositionRequest
      first.resolve({ seq: first.count + shift, isExact: first.shift === shift })
    }
  }

  reject(error: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}
