import { ApiError } from '../../../core/base/errors.ts'
import type { FromSchema } from '../../../core/base/schema.ts'
import type { FoundAnchor, RequestedAnchor } from '../../../core/content/edit/anchors.ts'
import type { QuoteTarget } from '../../../core/content/edit/edit.ts'
import { defaultContentKey } from '../../../core/content/roots.ts'
import { type BatchResults, ItemRejectedError } from '../../../core/directory/store/batch.ts'
import { BackendEdits } from '../../../core/rooms/edits/backend-edits.ts'
import { anchorPlaces } from '../../../rest/anchor-places.ts'
import { editorAddress } from '../../../rest/editor-content.ts'
import type { DocumentIds } from '../../../rest/list-editors.ts'
import type { TenantContext } from '../../../rest/operation.ts'
import type { Anchor } from '../comment-records.ts'
import type { AnnotationView } from '../list-annotations.ts'
import { type anchor, type annotationRecords, toAnnotationResponse } from './comment-schema.ts'

/** A validated anchor. If its root is omitted, `placeAnchors` chooses the root. */
type CheckedAnchor = Pick<Anchor, 'editorId'> & { readonly contentKey: string | undefined } & (
    | Pick<Anchor, 'position' | 'positionEnd'>
    | { readonly quote: QuoteTarget }
  )

/** Returns the validated anchor; undefined if the request contains no anchor. */
export function parseAnchor(given: FromSchema<typeof anchor> | undefined): CheckedAnchor | undefined {
  if (given === undefined) return undefined
  const { editorId, contentKey, position = '', positionEnd, quote } = given
  if (quote === undefined)
    return { editorId, contentKey, position, ...(positionEnd !== undefined && { positionEnd }) }
  const { before = '', after = '', occurrence = null } = given
  return {
    editorId,
    contentKey,
    quote: { is: 'quote', quote, before, after, occurrence, acrossBlocks: false },
  }
}

interface AnchoredItem {
  readonly annotationId: string
  readonly anchor: CheckedAnchor | undefined
}

/** An item with its anchor in the stored form, or with the reason why it cannot have the anchor. */
type PlacedItem<Item extends AnchoredItem> = Omit<Item, 'anchor'> & {
  readonly annotationId: string
  readonly anchor: Anchor | undefined
  readonly anchorError: ItemRejectedError | undefined
}

/**
 * Returns the items with their anchors in the stored form. Quotes are found in the present content. If an anchor
 * omits its root, the common rule for `contentKey` chooses the root.
 */
export async function placeAnchors<Item extends AnchoredItem>(
  context: TenantContext,
  document: DocumentIds,
  items: readonly Item[],
): Promise<readonly PlacedItem<Item>[]> {
  const found = await foundAnchors(
    context,
    document,
    items.flatMap(({ anchor }) => (anchor === undefined || isComplete(anchor) ? [] : [anchor])),
  )
  return items.map(({ anchor, ...item }) => {
    const answer = anchor === undefined ? undefined : found.get(anchor)
    if (answer !== undefined && 'problem' in answer) {
      const { code, message, details } = answer.problem
      return { ...item, anchor: undefined, anchorError: new ItemRejectedError(code, message, details) }
    }
    return { ...item, anchor: anchor && storedAnchor(anchor, answer), anchorError: undefined }
  })
}

const isComplete = (anchor: CheckedAnchor): boolean => 'position' in anchor && anchor.contentKey !== undefined

function storedAnchor(
  anchor: CheckedAnchor,
  found: Exclude<FoundAnchor, { problem: unknown }> | undefined,
): Anchor | undefined {
  const { editorId } = anchor
  const contentKey = anchor.contentKey ?? found?.contentKey ?? defaultContentKey
  if (!('quote' in anchor)) return { ...anchor, contentKey }
  const range = found?.range ?? null
  return range === null ? undefined : { editorId, contentKey, ...range }
}

/** Searches the editors that anchors name, one after the other. Reads each editor once. */
async function foundAnchors(
  { caller, services: { rooms, schemas } }: TenantContext,
  document: DocumentIds,
  anchors: readonly CheckedAnchor[],
): Promise<ReadonlyMap<CheckedAnchor, FoundAnchor>> {
  const answers = new Map<CheckedAnchor, FoundAnchor>()
  if (anchors.length === 0) return answers
  const { organizationId, documentId } = document
  const attachments = await schemas.attachedIn({ ...caller.tenant, organizationId }, documentId)
  for (const editorId of new Set(anchors.map((anchor) => anchor.editorId))) {
    const inEditor = anchors.filter((anchor) => anchor.editorId === editorId)
    const find = inEditor.map((anchor): RequestedAnchor => {
      const contentKey = anchor.contentKey ?? attachments.get(editorId)?.contentKey
      return { contentKey, quote: 'quote' in anchor ? anchor.quote : null }
    })
    const found = await rooms.use(editorAddress(caller, { ...document, editorId }), (room) =>
      new BackendEdits(room).anchors({ find, show: [] }),
    )
    for (const [index, anchor] of inEditor.entries()) {
      const answer = found?.found[index]
      if (answer !== undefined) answers.set(anchor, answer)
    }
  }
  return answers
}

/**
 * Checks the results of a call. If the anchors are the reason why no item has been stored, the call fails.
 * @throws ApiError the error of the first anchor
 */
export function requireAnchors(
  items: readonly { readonly annotationId: string; readonly anchorError: ItemRejectedError | undefined }[],
  results: BatchResults,
): void {
  const [first] = items
  const isFailed = items.every(
    ({ annotationId, anchorError }) =>
      anchorError !== undefined && results[annotationId]?.details?.code === anchorError.code,
  )
  if (first?.anchorError === undefined || !isFailed) return
  const { annotationId, anchorError } = first
  const { code, message, details } = anchorError
  throw new ApiError(code, message, { details: { ...details, annotationId } })
}

type AnnotationResponse = FromSchema<typeof annotationRecords>[number]

/**
 * Converts annotations to their responses. Adds the places of their anchors, unless the content is too large or
 * cannot be read now: the annotations themselves are more important.
 */
export async function toAnchoredResponses(
  context: TenantContext,
  document: DocumentIds,
  views: readonly AnnotationView[],
): Promise<readonly AnnotationResponse[]> {
  const anchors = views.flatMap(({ record: { anchor } }) => (anchor === null ? [] : [anchor]))
  const places = await anchorPlaces(context, document, anchors)
  return views.map((view) => {
    const { anchor } = view.record
    const anchorPlace = anchor === null ? undefined : places.get(anchor)
    return { ...toAnnotationResponse(view), ...(anchorPlace !== undefined && { anchorPlace }) }
  })
}
