import * as s from '../../../core/base/schema.ts'
import type { OverlapPolicy } from '../../../core/content/merge/overlap.ts'
import type { ChangeMeta } from '../../../core/model/change-origin.ts'
import { callOnline, type OnlineServer } from './rest-client.ts'

/** A part of a response whose members are only printed. */
const shown = s.object({})

const attributedSchema = s.tuple([s.object({ attribution: s.array(shown), attributionTruncated: s.boolean })])

const changesSchema = s.object({ changes: s.array(shown) })

const diffSchema = s.object({ from: s.string, to: s.string, diff: s.unknown })

const undoSchema = s.object(
  {
    version: s.string,
    changed: s.boolean,
    undone: s.number,
    notUndone: s.array(s.object({ changeId: s.string, hunk: s.orNull(s.number), reason: s.string })),
  },
  {
    overlaps: s.array(
      s.object({ path: s.string, kept: s.string }, { base: s.unknown, theirs: s.unknown, mine: s.unknown }),
    ),
    overlapCount: s.number,
  },
)

/** Outcome of an undo. */
type OnlineUndo = s.TypeOf<typeof undoSchema>

/** Selects changes between two versions of an editor. */
export interface ChangeSelection {
  readonly from: string
  readonly to?: string | undefined
  readonly by?: string | undefined
  readonly meta?: ChangeMeta | undefined
}

/** Reads the content of a root with its authors. @throws StorageError */
export async function blameOnline(
  server: OnlineServer,
  path: object,
  contentKey: string | undefined,
): Promise<{ readonly attribution: readonly object[]; readonly attributionTruncated: boolean }> {
  const query = { ...path, contentKey, attribution: true }
  const { data } = await callOnline(server, '/v2/crdt/get', query, attributedSchema)
  return data[0]
}

/** Yields the change sets between two versions, page by page. @throws StorageError */
export async function* listChangesOnline(
  server: OnlineServer,
  path: object,
  selection: ChangeSelection,
): AsyncGenerator<object> {
  let pageToken: string | undefined
  do {
    const query = { ...path, ...selection, ...(pageToken !== undefined && { pageToken }) }
    const page = await callOnline(server, '/v2/crdt/changes', query, changesSchema)
    yield* page.data.changes
    pageToken = page.pageToken
  } while (pageToken !== undefined)
}

/** Compares two versions of a root. @throws StorageError */
export async function diffOnline(
  server: OnlineServer,
  path: object,
  query: Pick<ChangeSelection, 'from' | 'to'> & {
    readonly format: string
    readonly contentKey?: string | undefined
  },
): Promise<s.TypeOf<typeof diffSchema>> {
  return (await callOnline(server, '/v2/crdt/versions/diff', { ...path, ...query }, diffSchema)).data
}

/** Undoes changes between two versions. @throws StorageError */
export async function undoOnline(
  server: OnlineServer,
  path: object,
  query: ChangeSelection & {
    readonly changeIds?: readonly string[] | undefined
    readonly onOverlap?: OverlapPolicy | undefined
    readonly dryRun?: boolean | undefined
    readonly userId?: string | undefined
  },
): Promise<OnlineUndo> {
  return (await callOnline(server, '/v2/crdt/undo', { ...path, ...query }, undoSchema)).data
}
