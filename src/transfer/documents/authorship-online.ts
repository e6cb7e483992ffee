import * as v from 'valibot'
import type { ChangeMeta } from '../../model/change-origin.ts'
import { callOnline, type OnlineServer } from './rest-client.ts'

const origin = {
  userId: v.nullable(v.string()),
  source: v.nullable(v.string()),
  meta: v.nullable(v.record(v.string(), v.unknown())),
}

const runSchema = v.looseObject({
  ...origin,
  at: v.nullable(v.string()),
  path: v.array(v.unknown()),
  length: v.number(),
  text: v.exactOptional(v.string()),
  node: v.exactOptional(v.string()),
})

/** Adjacent content of one author. */
export type OnlineRun = v.InferOutput<typeof runSchema>

const attributedSchema = v.tuple([
  v.looseObject({
    contentKey: v.string(),
    attribution: v.array(runSchema),
    attributionTruncated: v.boolean(),
  }),
])

const hunkSchema = v.looseObject({
  deleted: v.string(),
  inserted: v.string(),
  deletedNodes: v.array(v.string()),
  insertedNodes: v.array(v.string()),
  deletedValues: v.array(v.unknown()),
  insertedValues: v.array(v.unknown()),
  entries: v.array(
    v.looseObject({ key: v.string(), before: v.optional(v.unknown()), after: v.optional(v.unknown()) }),
  ),
  formatting: v.array(
    v.looseObject({ name: v.string(), before: v.unknown(), after: v.unknown(), text: v.string() }),
  ),
})

/** Adjacent changes of one change set. */
export type OnlineHunk = v.InferOutput<typeof hunkSchema>

const changeSchema = v.looseObject({
  ...origin,
  changeId: v.string(),
  firstAt: v.nullable(v.string()),
  lastAt: v.nullable(v.string()),
  inserted: v.number(),
  deleted: v.number(),
  hunks: v.array(hunkSchema),
})

/** The changes of one author without a long pause. */
export type OnlineChange = v.InferOutput<typeof changeSchema>

const changesSchema = v.looseObject({ changes: v.array(changeSchema) })

const diffSchema = v.looseObject({ from: v.string(), to: v.string(), diff: v.unknown() })

const undoSchema = v.looseObject({
  version: v.string(),
  changed: v.boolean(),
  undone: v.number(),
  notUndone: v.array(
    v.looseObject({ changeId: v.string(), hunk: v.nullable(v.number()), reason: v.string() }),
  ),
})

/** Outcome of an undo. */
export type OnlineUndo = v.InferOutput<typeof undoSchema>

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
): Promise<{ readonly attribution: readonly OnlineRun[]; readonly attributionTruncated: boolean }> {
  const query = { ...path, contentKey, attribution: true }
  const { data } = await callOnline(server, '/v2/crdt/get', query, attributedSchema)
  return data[0]
}

/** Yields the change sets between two versions, page by page. @throws StorageError */
export async function* listChangesOnline(
  server: OnlineServer,
  path: object,
  selection: ChangeSelection,
): AsyncGenerator<OnlineChange> {
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
): Promise<v.InferOutput<typeof diffSchema>> {
  return (await callOnline(server, '/v2/crdt/versions/diff', { ...path, ...query }, diffSchema)).data
}

/** Undoes changes between two versions. @throws StorageError */
export async function undoOnline(
  server: OnlineServer,
  path: object,
  query: ChangeSelection & {
    readonly changeIds?: readonly string[] | undefined
    readonly dryRun?: boolean | undefined
    readonly userId?: string | undefined
  },
): Promise<OnlineUndo> {
  return (await callOnline(server, '/v2/crdt/undo', { ...path, ...query }, undoSchema)).data
}
