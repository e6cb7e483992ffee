/** A stored snapshot: the last number it covers, and when it was made (epoch milliseconds). */
export interface SnapshotInfo {
  readonly seq: number
  readonly at: number
}

/**
 * The snapshots of one log, oldest first. The first is the anchor: nothing before it can be rebuilt, and all entries
 * after it are there. The last is the base, which opening starts from. Number 0 is the empty document, which needs no
 * snapshot.
 */
export type SnapshotList = readonly [SnapshotInfo, ...SnapshotInfo[]]

export const noSnapshots: SnapshotList = [{ seq: 0, at: 0 }]

/** Snapshots that one log holds at most, the base included. */
export const snapshotsMax = 3

export const oldestSnapshot = (marks: SnapshotList): SnapshotInfo => marks[0]
export const baseSnapshot = (marks: SnapshotList): SnapshotInfo => marks.at(-1) ?? marks[0]

/**
 * What is left of the snapshots when `made` has become the base: the newest one that is older than `keepSince`, as
 * every version since is after it; the one that follows it, because it is the next anchor; and the base. Without the
 * one in between a log compacted all the time would never have a base old enough to become the anchor. So the anchor
 * is at most twice as old as what is asked for, and one compaction more.
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

/** Those of `before` whose snapshots go when `after` takes their place. */
export const droppedSnapshots = (before: SnapshotList, after: SnapshotList): readonly SnapshotInfo[] =>
  before.filter(({ seq }) => seq > 0 && !after.some((mark) => mark.seq === seq))
