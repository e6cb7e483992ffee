import type {
  CrdtChangesDataChangesItem,
  CrdtChangesDataChangesItemHunksItem,
  SavedVersion,
} from '../../../client/api/operation-types.ts'
import { formatTime } from '../../ui/format.ts'
import { versionTitle } from '../editor.ts'
import { authorName } from './authors.ts'

/** Adjacent changes of one author, as `/v2/crdt/changes` returns them. */
export type HunkEntry = CrdtChangesDataChangesItemHunksItem

/** The changes of one author without a long pause. */
export type ChangeSetEntry = CrdtChangesDataChangesItem

/** A sentence about the counts of a change, for example `3 inserted, 1 deleted`. */
export const describeCounts = ({ inserted, deleted }: Pick<ChangeSetEntry, 'inserted' | 'deleted'>): string =>
  `${inserted.toLocaleString()} inserted, ${deleted.toLocaleString()} deleted`

/** A position of the scrubber: a saved version or a change. */
export type TimelinePoint =
  | { readonly kind: 'version'; readonly id: string; readonly version: SavedVersion }
  | { readonly kind: 'change'; readonly id: string; readonly change: ChangeSetEntry }

/**
 * Joins versions and changes in the order of their times. The time of a change is unknown or has a precision of some
 * seconds, so a change is never before the first version, after which it was made.
 */
export function timelineOf(
  versions: readonly SavedVersion[],
  changes: readonly ChangeSetEntry[],
): readonly TimelinePoint[] {
  const start = Math.min(...versions.map(({ createdAt }) => Date.parse(createdAt)))
  const timeOf = (point: TimelinePoint): number => {
    if (point.kind === 'version') return Date.parse(point.version.createdAt)
    return Math.max(start, point.change.lastAt === null ? 0 : Date.parse(point.change.lastAt))
  }
  const points: TimelinePoint[] = [
    ...versions.map((version) => ({ kind: 'version', id: version.versionId, version }) as const),
    ...changes.map((change) => ({ kind: 'change', id: change.changeId, change }) as const),
  ]
  return points.sort((a, b) => timeOf(a) - timeOf(b))
}

/** Describes a point in words, for screen readers and as the title of the point. */
export function describePoint(point: TimelinePoint): string {
  if (point.kind === 'version') return `saved version: ${versionTitle(point.version)}`
  const { userId, lastAt } = point.change
  return [authorName(userId), formatTime(lastAt), describeCounts(point.change)]
    .filter((part) => part !== '')
    .join(', ')
}
