import { formatTime } from '../../ui/format.ts'
import type { ChangeOriginEntry } from './attributed-run.ts'
import { authorName } from './author-colors.ts'

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
