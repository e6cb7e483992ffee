import type { AppendTo, LoadedLog } from '../../store/engine.ts'

/** Whether the document exists. Only an explicit request creates a `deleted` document again. */
export type Existence = 'absent' | 'deleted' | 'live'

/** The existence, epoch and last change of a log, as one replica knows them. */
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

  /** Records that the log exists with this epoch. Another node may have created it. */
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
