import type { LogUpdate } from '../../store/engine.ts'
import type { RemoteAppend, ReplicaPosition } from './read-log-since.ts'

/** A notice for the other nodes: the sending node has appended updates to the log of a document. */
export interface AppendNotice {
  readonly epoch: number
  readonly first: number
  /** Sequence number of the last appended update. */
  readonly last: number
  /** Time of the append, in epoch milliseconds. */
  readonly at: number
  /**
   * The updates, one for each sequence number. Null if they are too large for the bus; the receiver then
   * reads the log.
   */
  readonly updates: readonly LogUpdate[] | null
}

/**
 * Maximum number of notices that wait while an operation of the commits is in progress. If more arrive, the
 * log is read instead.
 */
const waitingMax = 64

/**
 * The notices of other nodes whose updates wait to be applied. `next` returns the updates in the order of the
 * log.
 */
export class RemoteAppendBuffer {
  #waiting: AppendNotice[] = []
  #isBehind = false

  add(news: AppendNotice): void {
    if (this.#waiting.length < waitingMax) this.#waiting.push(news)
    else this.#isBehind = true
  }

  /**
   * Removes all notices, and returns the updates in them that follow `position`. Returns `behind` if updates
   * are missing, so that the log must be read. Returns null if no update is new.
   */
  next(
    position: ReplicaPosition,
  ): { readonly epoch: number; readonly foreign: readonly RemoteAppend[] } | 'behind' | null {
    if (this.#waiting.length === 0 && !this.#isBehind) return null
    const waiting = this.#waiting.sort((a, b) => a.first - b.first)
    const isBehind = this.#isBehind
    this.#waiting = []
    this.#isBehind = false
    if (isBehind || position.epoch === null) return 'behind'
    const foreign: RemoteAppend[] = []
    let { seq } = position
    for (const { epoch, first, last, at, updates } of waiting) {
      if (epoch < position.epoch || (epoch === position.epoch && last <= seq)) continue
      if (epoch > position.epoch || first !== seq + 1 || updates === null) return 'behind'
      for (const [index, update] of updates.entries())
        foreign.push({ is: 'update', update, seq: first + index, at })
      seq = last
    }
    return foreign.length === 0 ? null : { epoch: position.epoch, foreign }
  }
}
