import { formatTime } from '../../ui/format.ts'
import { type VersionSummary, versionTitle } from '../versions/version-summary.ts'
import { authorName, type ChangeOriginEntry } from './authors.ts'

/** Adjacent changes of one author, as `/v2/crdt/changes` returns them. */
export interface HunkEntry {
  readonly anchor: {
    readonly contentKey: string
    readonly path: readonly (string | number)[]
    readonly before: string
    readonly after: string
  }
  readonly deleted: string
  readonly inserted: string
  readonly deletedNodes: readonly string[]
  readonly insertedNodes: readonly string[]
  readonly deletedValues: readonly unknown[]
  readonly insertedValues: readonly unknown[]
  readonly entries: readonly { readonly key: string; readonly before?: unknown; readonly after?: unknown }[]
  readonly formatting: readonly {
    readonly name: string
    readonly before: unknown
    readonly after: unknown
    readonly text: string
  }[]
  /** True if parts are left out, because the hunk is too large. */
  readonly truncated: boolean
}

/** The changes of one author without a long pause. */
export interface ChangeSetEntry extends ChangeOriginEntry {
  readonly changeId: string
  /** ISO 8601; null if the time is unknown. */
  readonly firstAt: string | null
  readonly lastAt: string | null
  /** Numbers of units and values. */
  readonly inserted: number
  readonly deleted: number
  readonly hunks: readonly HunkEntry[]
  /** True if hunks are left out, because there are too many. */
  readonly truncated: boolean
}

/** A sentence about the counts of a change, for example `3 inserted, 1 deleted`. */
export const describeCounts = ({ inserted, deleted }: Pick<ChangeSetEntry, 'inserted' | 'deleted'>): string =>
  `${inserted.toLocaleString()} inserted, ${deleted.toLocaleString()} deleted`

/** A position of the scrubber: a saved version or a change. */
export type TimelinePoint =
  | { readonly kind: 'version'; readonly id: string; readonly version: VersionSummary }
  | { readonly kind: 'change'; readonly id: string; readonly change: ChangeSetEntry }

/**
 * Joins versions and changes in the order of their times. The time of a change is unknown or has a precision of some
 * seconds, so a change is never before the first version, after which it was made.
 */
export function timelineOf(
  versions: readonly VersionSummary[],
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
