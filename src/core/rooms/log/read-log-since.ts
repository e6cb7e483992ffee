import {
  AppendRejectedError,
  type DocumentLog,
  type Key,
  type LoadedLog,
  type LogUpdate,
} from '../../store/engine.ts'
import { pageBytes } from './load-room.ts'

/** An entry of the log that another node has appended. */
export interface RemoteAppend {
  /** `state`: a snapshot that replaces compacted updates. This replica already has most of its content. */
  readonly is: 'update' | 'state'
  readonly update: LogUpdate
  /** Sequence number of the update, or of the last update in the snapshot. */
  readonly seq: number
  /** Time of the append, in epoch milliseconds. */
  readonly at: number
}

/** The position of a replica in its log. `epoch` is null if the replica has read nothing from the log. */
interface ReplicaPosition {
  readonly epoch: number | null
  readonly seq: number
}

/**
 * Thrown if a log has lost its last entries, which were already read from it or stored in it. This happens if
 * a database server that lacks these entries takes over. The replica must be dropped, because no other node
 * has the entries; the clients send their updates again.
 */
export class LogTruncatedError extends Error {
  override readonly name = 'LogTruncatedError'
  constructor() {
    super('the log has lost its last entries')
  }
}

/**
 * Reads the log entries after a position, page by page and in order.
 * @param first the first page, if it was already loaded
 * @throws AppendRejectedError if the log was deleted or created again; LogTruncatedError,
 * StoreUnavailableError, CorruptRecordError
 */
export async function* readLogSince(
  log: Pick<DocumentLog, 'load'>,
  doc: Key,
  { epoch, seq }: ReplicaPosition,
  first?: LoadedLog,
): AsyncGenerator<{ readonly epoch: number; readonly foreign: readonly RemoteAppend[] }> {
  let after = seq
  let page = first
  for (;;) {
    const loaded =
      page ??
      (await log.load(doc, { ...(epoch === null ? {} : { since: after, epoch }), bytesMax: pageBytes }))
    page = undefined
    if (loaded.state !== 'live') {
      if (epoch === null) return
      throw new AppendRejectedError('deleted')
    }
    if (epoch !== null && loaded.epoch !== epoch) throw new AppendRejectedError('epoch')
    if (epoch !== null && loaded.head < after) throw new LogTruncatedError()
    const foreign: RemoteAppend[] = []
    if (loaded.snapshot !== null && loaded.base > after) {
      const update = { bytes: loaded.snapshot, by: loaded.changed.by }
      foreign.push({ is: 'state', update, seq: loaded.base, at: loaded.basedAt })
    }
    for (const { seq: number, at, bytes, by } of loaded.entries)
      if (number > after) foreign.push({ is: 'update', update: { bytes, by }, seq: number, at })
    if (foreign.length > 0) yield { epoch: loaded.epoch, foreign }
    const last = foreign.at(-1)?.seq ?? after
    if (!loaded.more || last === after) return
    after = last
    epoch = loaded.epoch
  }
}

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
