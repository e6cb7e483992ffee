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
export interface ReplicaPosition {
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
