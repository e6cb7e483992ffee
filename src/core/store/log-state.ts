import {
  type AppendOptions,
  AppendRejectedError,
  type AppendTo,
  type LoadOptions,
  type LogHead,
} from './engine.ts'

/**
 * Describes a stored snapshot: the last sequence number that it covers (`seq`), and the time at which it was
 * made (`at`, epoch milliseconds).
 */
export interface SnapshotInfo {
  readonly seq: number
  readonly at: number
}

/**
 * The snapshots of one log, oldest first. The first snapshot is the anchor: no version before it can be
 * rebuilt, and the log has all entries after it. The last snapshot is the base, from which loading starts.
 * The number 0 represents the empty document, for which no snapshot is stored.
 */
export type SnapshotList = readonly [SnapshotInfo, ...SnapshotInfo[]]

export const noSnapshots: SnapshotList = [{ seq: 0, at: 0 }]

/**
 * The number under which engines store the attribution of a log, next to its snapshots. No snapshot has it,
 * because the empty document is not stored.
 */
export const attributionNumber = 0

/** Maximum number of snapshots of one log, including the base. */
export const snapshotsMax = 3

export const oldestSnapshot = (marks: SnapshotList): SnapshotInfo => marks[0]
export const baseSnapshot = (marks: SnapshotList): SnapshotInfo => marks.at(-1) ?? marks[0]

/**
 * Returns the snapshots that remain when `made` becomes the base: the anchor, the snapshot after the anchor,
 * and the base. The anchor is the newest snapshot that is older than `keepSince`, so every version since then
 * can be rebuilt. The snapshot after the anchor becomes the next anchor. If each compaction replaced this
 * snapshot, no snapshot would ever become old enough to be the next anchor. As a result, the anchor is at
 * most twice as old as requested, plus the time between two compactions.
 */
export function snapshotsAfterCompaction(
  marks: SnapshotList,
  made: SnapshotInfo,
  keepSince: number,
): SnapshotList {
  const all = [...marks.filter(({ seq }) => seq < made.seq), made]
  const anchorAt = all.findLastIndex(({ at }) => at < keepSince)
  const [anchor = made, ...later] = all.slice(Math.max(0, anchorAt))
  return later.length < snapshotsMax
    ? [anchor, ...later]
    : [anchor, ...later.slice(0, snapshotsMax - 2), made]
}

/** Returns the stored snapshots that are in `before` but not in `after`. */
export const droppedSnapshots = (before: SnapshotList, after: SnapshotList): readonly SnapshotInfo[] =>
  before.filter(({ seq }) => seq > 0 && !after.some((mark) => mark.seq === seq))

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
