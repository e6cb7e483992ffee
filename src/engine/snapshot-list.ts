/**
 * A stored snapshot: the last sequence number that it covers, and the time at which it was made (epoch
 * milliseconds).
 */
export interface SnapshotInfo {
  readonly seq: number
  readonly at: number
}

/**
 * The snapshots of one log, oldest first. The first one is the anchor: nothing before it can be rebuilt, and
 * all entries after it exist. The last one is the base, which loading starts from. Number 0 is the empty
 * document, which needs no snapshot.
 */
export type SnapshotList = readonly [SnapshotInfo, ...SnapshotInfo[]]

export const noSnapshots: SnapshotList = [{ seq: 0, at: 0 }]

/** Maximum number of snapshots of one log, including the base. */
export const snapshotsMax = 3

export const oldestSnapshot = (marks: SnapshotList): SnapshotInfo => marks[0]
export const baseSnapshot = (marks: SnapshotList): SnapshotInfo => marks.at(-1) ?? marks[0]

/**
 * Returns the snapshots that remain when `made` becomes the base: the anchor, the one after it, and the base.
 * The anchor is the newest snapshot older than `keepSince`, so every version since then can be rebuilt. The
 * snapshot after it is the next anchor. If each compaction replaced it, no snapshot would become old enough.
 * So the anchor is at most twice as old as requested, plus one compaction.
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

/** Returns the snapshots of `before` to delete when `after` replaces it. */
export const droppedSnapshots = (before: SnapshotList, after: SnapshotList): readonly SnapshotInfo[] =>
  before.filter(({ seq }) => seq > 0 && !after.some((mark) => mark.seq === seq))
