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
