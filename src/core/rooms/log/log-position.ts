import type { AppendTo, LoadedLog } from '../../store/engine.ts'

/** Whether the document exists. Only an explicit request creates a `deleted` document again. */
export type Existence = 'absent' | 'deleted' | 'live'

/** The existence, epoch and last change of a log, as its room knows them. */
export class LogPosition {
  #existence: Existence
  #epoch: number
  #changedAt: number
  #changedBy: string

  constructor(loaded: LoadedLog) {
    this.#existence = loaded.state
    this.#epoch = loaded.state === 'absent' ? 0 : loaded.epoch
    this.#changedAt = loaded.state === 'live' ? loaded.changed.at : 0
    this.#changedBy = loaded.state === 'live' ? loaded.changed.by : ''
  }

  get existence(): Existence {
    return this.#existence
  }

  get epoch(): number {
    return this.#epoch
  }

  /** Time and user of the last update. */
  get changed(): { readonly at: number; readonly by: string } {
    return { at: this.#changedAt, by: this.#changedBy }
  }

  noteChange(at: number, by: string): void {
    this.#changedAt = at
    this.#changedBy = by
  }

  /** Records that the log exists with this epoch. */
  found(epoch: number): void {
    this.#existence = 'live'
    this.#epoch = epoch
  }

  /**
   * Returns the target of the next append: the epoch of the log, or `create` or `recreate` if there is no
   * log. In the latter case, the position already gets the next epoch, so that later appends can use it
   * before the new log is durable.
   */
  target(): AppendTo {
    if (this.#existence === 'live') return this.#epoch
    const to = this.#existence === 'absent' ? 'create' : 'recreate'
    this.found(this.#epoch + 1)
    return to
  }
}

/** A caller that waits until the update with a sequence number is durable. */
interface PositionRequest {
  readonly seq: number
  readonly resolve: (seq: number) => void
  readonly reject: (error: unknown) => void
}

/** Callers that wait until updates are durable, in the order of their sequence numbers. */
export class CommitWaiters {
  readonly #waiting: PositionRequest[] = []

  add(waiter: PositionRequest): void {
    this.#waiting.push(waiter)
  }

  /** Resolves the callers that wait for updates up to `durableTo`. */
  answer(durableTo: number): void {
    while (this.#waiting.length > 0 && (this.#waiting[0] as PositionRequest).seq <= durableTo) {
      const { seq, resolve } = this.#waiting.shift() as PositionRequest
      resolve(seq)
    }
  }

  reject(error: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}
