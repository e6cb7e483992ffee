/** Who waits until so many updates of this node are durable. */
interface Waiting {
  readonly count: number
  /** By how much the number of an update in the log is larger than its count, if nobody else appends before it. */
  readonly shift: number
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/** Number of the last update asked for; `isExact`: nobody else's got in before it. */
export interface Answer {
  readonly seq: number
  readonly isExact: boolean
}

/** Those who wait for updates to be durable whose numbers are known only then. */
export class Asked {
  readonly #waiting: Waiting[] = []

  add(count: number, shift: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ count, shift, resolve, reject })
    })
  }

  /** Updates up to `count` are durable, under numbers that are larger by `shift`. */
  answer(count: number, shift: number): void {
    while (this.#waiting.length > 0 && (this.#waiting[0] as Waiting).count <= count) {
      const first = this.#waiting.shift() as Waiting
      first.resolve({ seq: first.count + shift, isExact: first.shift === shift })
    }
  }

  reject(error: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}
