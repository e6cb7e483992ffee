import type {
  CrdtChangesDataChangesItem,
  CrdtChangesDataChangesItemHunksItem,
  CrdtGetDataItemAttributionItem,
  SavedVersion,
} from '../../../client/api/operation-types.ts'
import { formatTime } from '../../ui/format.ts'
import { versionTitle } from '../editor.ts'

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

/** Hues of authors, in degrees. Text on them is readable in both color schemes. */
const hues = [210, 30, 130, 320, 55, 265, 175, 0] as const
/** Lines of authors. Authors with the same hue have different lines. */
const lines = ['solid', 'dotted', 'dashed', 'double'] as const

/** Id of an author; null if the author is unknown. */
export type AuthorId = string | null

/** The style of an element of the class `author`. An author without a hue has no color. */
export type AuthorStyle = Readonly<Record<string, string>>

/**
 * Returns the styles of authors, in the order of the list. Unknown authors have no color. After 32 authors,
 * the styles repeat.
 */
export function authorStyles(authors: Iterable<AuthorId>): ReadonlyMap<AuthorId, AuthorStyle> {
  const styles = new Map<AuthorId, AuthorStyle>()
  let known = 0
  for (const author of authors) {
    if (styles.has(author)) continue
    if (author === null) styles.set(author, {})
    else {
      const line = lines[Math.floor(known / hues.length) % lines.length]
      styles.set(author, { '--hue': String(hues[known % hues.length]), borderBottomStyle: line ?? 'solid' })
      known += 1
    }
  }
  return styles
}

export const authorName = (author: AuthorId): string => author ?? 'unknown author'

/** The origin of a change, in the form in which the server returns it. */
type ChangeOriginEntry = Pick<AttributedEntry, 'userId' | 'source' | 'meta'>

/** Adjacent content of one author, as `/v2/crdt/get` returns it with `attribution`. */
export type AttributedEntry = CrdtGetDataItemAttributionItem

/** A line of the authors view. */
interface AttributedLine {
  /** The path of a value; '' for text and elements. */
  readonly label: string
  readonly runs: readonly AttributedEntry[]
}

/**
 * Groups runs into lines. The texts of one type are one line. An element starts a line, and its text continues
 * the line. Each value has its own line.
 */
export function toLines(runs: readonly AttributedEntry[]): readonly AttributedLine[] {
  const lines: { label: string; runs: AttributedEntry[] }[] = []
  /** Parent of the texts of the last line. Null: the last line is an element without text. */
  let parent: string | null = ''
  for (const run of runs) {
    const last = lines.at(-1)
    const ofRun = JSON.stringify(run.path.slice(0, -1))
    if (run.text !== undefined) {
      if (last !== undefined && (parent === null || parent === ofRun)) last.runs.push(run)
      else lines.push({ label: '', runs: [run] })
      parent = ofRun
    } else {
      lines.push({ label: run.node === undefined ? run.path.join(' › ') : '', runs: [run] })
      parent = run.node === undefined ? '' : null
    }
  }
  return lines
}

/** Returns the number of units that each author has written, in the order of the document. */
export function unitsByAuthor(runs: readonly AttributedEntry[]): ReadonlyMap<AuthorId, number> {
  const units = new Map<AuthorId, number>()
  for (const { userId, length } of runs) units.set(userId, (units.get(userId) ?? 0) + length)
  return units
}

const sources: Readonly<Record<string, string>> = {
  socket: 'typed in an editor',
  rest: 'written by the REST API',
  import: 'imported',
  restore: 'restored from a version',
  undo: 'an undo',
  branch: 'merged from a branch',
}

/** Describes the source of a change in words; '' if it is unknown. */
const describeSource = (source: string | null): string => (source === null ? '' : (sources[source] ?? source))

/** Maximum number of characters of the data of a sender that are shown. */
const metaMax = 300

const describeMeta = (meta: ChangeOriginEntry['meta']): string =>
  meta === null ? '' : JSON.stringify(meta).slice(0, metaMax)

/** Describes who made a change, when and how, for example `ann, Jan 1, 2026, typed in an editor`. */
export const originInWords = (origin: ChangeOriginEntry & { readonly at: string | null }): string =>
  [authorName(origin.userId), formatTime(origin.at), describeSource(origin.source), describeMeta(origin.meta)]
    .filter((part) => part !== '')
    .join(', ')
