import {
  type AppendOptions,
  AppendRejectedError,
  type AppendTo,
  type LoadOptions,
  type LogHead,
} from './engine.ts'
import { baseSnapshot, noSnapshots, oldestSnapshot, type SnapshotList } from './snapshot-list.ts'

/** State of a document's log. `head` is the last assigned sequence number. */
export type LogState =
  | { readonly state: 'absent' }
  | { readonly state: 'deleted'; readonly epoch: number }
  | { readonly state: 'live'; readonly epoch: number; readonly marks: SnapshotList; readonly head: number }

export type LiveLogState = Extract<LogState, { state: 'live' }>

/** Returns the head of a live document; null if the document is absent or deleted. */
export function headOf(standing: LogState): LogHead | null {
  if (standing.state !== 'live') return null
  const { epoch, head, marks } = standing
  return { epoch, head, base: baseSnapshot(marks).seq, oldest: oldestSnapshot(marks).seq }
}

export const absentLog = { state: 'absent' } as const satisfies LogState

/** Epoch of the first log of a document. */
const firstEpoch = 1

/**
 * Returns the state of the log to which an append adds entries.
 * @throws AppendRejectedError
 */
export function resolveAppend(standing: LogState, to: AppendTo, { expectHead }: AppendOptions): LiveLogState {
  const log = typeof to === 'number' ? existing(standing, to) : created(standing, to)
  if (expectHead !== undefined && expectHead !== log.head) throw new AppendRejectedError('moved')
  return log
}

function existing(standing: LogState, epoch: number): LiveLogState {
  if (standing.state !== 'live') throw new AppendRejectedError(standing.state)
  if (standing.epoch !== epoch) throw new AppendRejectedError('epoch')
  return standing
}

function created(standing: LogState, to: 'create' | 'recreate'): LiveLogState {
  if (standing.state === 'live') throw new AppendRejectedError('exists')
  if (standing.state === 'deleted' && to === 'create') throw new AppendRejectedError('deleted')
  const epoch = standing.state === 'deleted' ? standing.epoch + 1 : firstEpoch
  return { state: 'live', epoch, marks: noSnapshots, head: 0 }
}

/** Arguments of a compaction. */
export interface CompactionRequest {
  readonly epoch: number
  readonly expectBase: number
  readonly upTo: number
  readonly keepSince: number
}

/** Returns whether a snapshot that covers everything up to `upTo` may become the base of the log. */
export function canCompact(
  standing: LogState,
  { epoch, expectBase, upTo }: CompactionRequest,
): standing is LiveLogState {
  if (standing.state !== 'live' || standing.epoch !== epoch) return false
  const base = baseSnapshot(standing.marks).seq
  return base === expectBase && upTo > 0 && upTo >= base && upTo <= standing.head
}

/**
 * Returns `since` if loading can start after it: the number belongs to this log, and the log still has every
 * entry after it. Otherwise returns null, and the caller must load everything.
 */
export function effectiveSince(log: LiveLogState, { since, epoch = log.epoch }: LoadOptions): number | null {
  if (since === undefined || epoch !== log.epoch) return null
  return since >= oldestSnapshot(log.marks).seq && since <= log.head ? since : null
}

/** Identifies a version. `after` is the number after which loading continues, if given. */
export interface VersionRequest {
  readonly epoch: number
  readonly seq: number
  readonly after?: number | undefined
}

/**
 * Returns the number after which entries must be read to rebuild a version: `after`, or the number that a
 * snapshot covers. Returns null if the version cannot be rebuilt.
 */
export function rebuildStart(standing: LogState, { epoch, seq, after }: VersionRequest): number | null {
  if (standing.state !== 'live' || standing.epoch !== epoch || seq > standing.head) return null
  if (after !== undefined) return after >= oldestSnapshot(standing.marks).seq && after <= seq ? after : null
  return standing.marks.findLast((mark) => mark.seq <= seq)?.seq ?? null
}

/** Maximum number of documents that one call of `destroyPrefix` destroys. */
export const destroyedPerCallMax = 100
