import { ApiError } from '../../core/base/errors.ts'
import type { EnsuredDocument } from '../../core/directory/services/document-service.ts'
import type { ListPage, PageRange } from '../../core/directory/store/list-page.ts'
import { addressKey, type DocumentAddress, documentPrefix } from '../../core/model/address.ts'
import type { ChangeMeta } from '../../core/model/change-origin.ts'
import { BackendEdits } from '../../core/rooms/edits/backend-edits.ts'
import { noContent } from '../../core/rooms/edits/edit-conditions.ts'
import { readAttribution, runInSlices } from '../../core/rooms/log/read-attribution.ts'
import { lastSegment } from '../../core/store/key-encoding.ts'
import { encodeAttributionSteps } from '../../core/update/attribution/attribution-codec.ts'
import type { Services } from '../../rest/services.ts'
import type { AnnotationRecord } from '../comments/comment-records.ts'
import { annotationsToCopy, copyThreads } from '../comments/thread-copies.ts'

/** Effects on an editor that exists at the target. */
export const conflictPolicies = ['fail', 'skip', 'replace'] as const

/** A document, or one editor of it. */
export type CopyPlace = Omit<DocumentAddress, 'editorId'> & { readonly editorId?: string | undefined }

interface CopyRequest {
  /** Id of a saved version of the editor; absent: the present content. */
  readonly versionId?: string | undefined
  readonly onConflict: (typeof conflictPolicies)[number]
  readonly withComments: boolean
  /** Id of the user who copies. */
  readonly userId: string
  /** Data of the caller about the change. */
  readonly meta: ChangeMeta | null
}

interface CopiedEditor {
  readonly editorId: string
  readonly result: 'created' | 'replaced' | 'skipped'
  /** Version of the editor after the copy; absent if it was skipped. */
  readonly version?: string
}

/** Bytes of content after which a page copies no further editor. */
const pageBytes = 67_108_864

/**
 * Copies an editor, or a page of the editors of a document without its branches, with authors, schemas and comments.
 * Each editor is durable when the next one starts. A page may end early.
 * @throws ApiError ALREADY_EXISTS if an editor exists and `onConflict` is `fail`, before anything is written;
 * FAILED_PRECONDITION for too many comments; the errors of `BackendEdits.apply` and `VersionService.restore`
 */
export async function copyEditors(
  services: Services,
  from: CopyPlace,
  to: CopyPlace,
  request: CopyRequest,
  range: PageRange,
): Promise<ListPage<CopiedEditor> & { readonly created: EnsuredDocument }> {
  const { store, engine, rooms, versions, documents, schemas } = services
  const { editorIds, next } = await editorsOf(services, from, range)
  const places = editorIds.map((editorId) => ({ ...to, editorId: to.editorId ?? editorId }))
  const heads = await engine.log.heads(places.map(addressKey))
  const taken = places.find((_, index) => heads[index] !== null)
  if (request.onConflict === 'fail' && taken !== undefined)
    throw new ApiError(
      'crdt/content-exists',
      `the editor ${JSON.stringify(taken.editorId)} has CRDT data: choose another place, or send onConflict`,
    )
  const threads = request.withComments ? await annotationsToCopy(store.read(from), from.documentId) : []
  await documents.requireEnabled(to, to.documentId)
  const { versionId, onConflict } = request
  const isSkipped = (index: number): boolean => heads[index] !== null && onConflict === 'skip'
  const stateAt = async (index: number): Promise<Uint8Array> => {
    const source = { ...from, editorId: editorIds[index] as string }
    if (versionId !== undefined) return (await versions.read(source, versionId)).bytes
    const state = await rooms.stateOf(source)
    if (state === null) throw noContent()
    return state
  }
  // Before anything is written, because an unknown version is an error.
  const first = editorIds.length === 0 || isSkipped(0) ? null : await stateAt(0)
  const created = await createDocument(services, from, to)
  if (from.editorId === undefined && range.after === undefined) {
    const unanchored = threads.filter(({ anchor }) => anchor === null)
    await copyThreads(services, from, { ...to, editorId: '' }, unanchored)
  }
  const items: CopiedEditor[] = []
  let bytes = 0
  for (const [index, place] of places.entries()) {
    const source = { ...from, editorId: editorIds[index] as string }
    if (bytes > pageBytes) return { items, next: editorIds[index - 1] as string, created }
    const { editorId } = place
    if (isSkipped(index)) {
      items.push({ editorId, result: 'skipped' })
      continue
    }
    const state = index === 0 && first !== null ? first : await stateAt(index)
    const result = heads[index] === null ? 'created' : 'replaced'
    const { version } =
      result === 'created'
        ? await createEditor(services, source, place, state, request, threads)
        : await versions.restore(place, state, {
            ...request,
            right: () => documents.rightToChange(place),
            schema: () => schemas.of(place),
          })
    items.push({ editorId, result, version })
    bytes += state.length
  }
  return { items, next, created }
}

async function editorsOf(
  { engine, branches }: Services,
  { editorId, ...document }: CopyPlace,
  { after, limit }: PageRange,
) {
  if (editorId !== undefined) return { editorIds: [editorId], next: null }
  const prefix = documentPrefix(document, document.documentId)
  const from = after === undefined ? {} : { after: [...prefix, after] }
  const editorIds = (await engine.log.list(prefix, { ...from, limit })).map(lastSegment)
  const next = editorIds.length < limit ? null : (editorIds.at(-1) ?? null)
  return { editorIds: await branches.withoutBranches(document, editorIds), next }
}

/** Creates the document, unless it exists. A new one has the access type of the source. */
async function createDocument(
  { organizations, documents }: Services,
  from: CopyPlace,
  { documentId, ...to }: CopyPlace,
): Promise<EnsuredDocument> {
  const [source] = await documents.get(from, [from.documentId])
  const isNew = await organizations.ensure(to)
  const added = { documentId, accessType: source?.accessType }
  const { results } = await documents.add(to, [added], { createFolder: false })
  return {
    ...(isNew && { organization: to.organizationId }),
    ...(results[documentId]?.success === true && { document: documentId }),
  }
}

/** Creates an editor. Its schema and its comments are durable before its content. */
async function createEditor(
  services: Services,
  from: DocumentAddress,
  to: DocumentAddress,
  state: Uint8Array,
  { userId, meta, versionId }: CopyRequest,
  threads: readonly AnnotationRecord[],
): Promise<{ readonly version: string }> {
  const { rooms, documents, schemas, engine } = services
  const anchored = threads.flatMap(({ anchor, ...annotation }) =>
    anchor?.editorId === from.editorId ? [{ ...annotation, anchor }] : [],
  )
  const { bytes, attribution, anchors } = await rooms.compute(from, {
    is: 'copy',
    updates: [state],
    attribution: await runInSlices(
      encodeAttributionSteps(await readAttribution(engine.log, addressKey(from))),
    ),
    anchors: anchored.map(({ anchor }) => anchor),
  })
  const moved = anchored.map(({ anchor, ...annotation }, index) => ({
    ...annotation,
    anchor: { ...anchor, ...anchors[index], editorId: to.editorId },
  }))
  const attached = await schemas.attachedTo(from)
  // A version from before a migration does not match the present schema.
  const rootSchema = versionId === undefined ? null : await schemas.of(from)
  const making = async (): Promise<void> => {
    if (attached !== null) await schemas.attach(to, attached)
    await copyThreads(services, from, to, moved)
  }
  return rooms.use(to, async (room) => {
    const right = await documents.rightToChange(to)
    const cause = { source: 'rest', meta } as const
    const options = { expects: 'nothing', cause, right, making, attribution, rootSchema } as const
    const { version } = await new BackendEdits(room).apply(userId, bytes, options)
    await room.storeAuthors()
    return { version }
  })
}
