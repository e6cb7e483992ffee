import type {
  CrdtChangesDataChangesItem,
  CrdtChangesDataChangesItemHunksItem,
  CrdtHistoryDataOriginsItem,
} from '../../../client/api/operation-types.ts'
import { formatTime } from '../../ui/format.ts'

/** Adjacent changes of one author, as `/v2/crdt/changes` returns them. */
export type HunkEntry = CrdtChangesDataChangesItemHunksItem

/** The changes of one author without a long pause. */
export type ChangeSetEntry = CrdtChangesDataChangesItem

/** A sentence about the counts of a change, for example `3 inserted, 1 deleted`. */
export const describeCounts = ({ inserted, deleted }: Pick<ChangeSetEntry, 'inserted' | 'deleted'>): string =>
  `${inserted.toLocaleString()} inserted, ${deleted.toLocaleString()} deleted`

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

const sources: Readonly<Record<string, string>> = {
  socket: 'typed in an editor',
  rest: 'written by the REST API',
  import: 'imported',
  restore: 'restored from a version',
  undo: 'an undo',
  branch: 'merged from a branch',
  stream: 'streamed by the REST API',
}

/** Describes the source of a change in words; '' if it is unknown. */
const describeSource = (source: string | null): string => (source === null ? '' : (sources[source] ?? source))

/** Maximum number of characters of the data of a sender that are shown. */
const metaMax = 300

const describeMeta = (meta: CrdtHistoryDataOriginsItem['meta']): string =>
  meta === null ? '' : JSON.stringify(meta).slice(0, metaMax)

/** Describes who made a change, when and how, for example `ann, Jan 1, 2026, typed in an editor`. */
export const originInWords = (origin: CrdtHistoryDataOriginsItem): string =>
  [authorName(origin.userId), formatTime(origin.at), describeSource(origin.source), describeMeta(origin.meta)]
    .filter((part) => part !== '')
    .join(', ')
