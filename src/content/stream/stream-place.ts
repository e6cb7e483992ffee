import * as Y from 'yjs'
import { kindFor } from '../edit/apply-edits.ts'
import { checkEdit, type TargetRequest } from '../edit/check-edits.ts'
import type { Edit, MatchedPlace } from '../edit/edit.ts'
import type { StoredRange } from '../edit/edit-dependencies.ts'
import { editNotSupported, targetNotFound } from '../edit/edit-errors.ts'
import { indexAtOffset } from '../edit/targets/flow-view.ts'
import { readLineView } from '../edit/targets/line-view.ts'
import { placeOfTarget, resolveTarget } from '../edit/targets/resolve.ts'
import type { TextKind } from '../edit/text-edit.ts'
import { insertionPlace, rangeOfTarget } from '../edit/writing/line-edits.ts'
import { contentKeyOf, requireRoot, shownName } from '../roots.ts'
import type { ContentSchema } from '../schemas/any-schema.ts'
import { rootKind, type SharedRoot } from '../yjs/root-kind.ts'
import { idsBetween } from '../yjs/stored-ranges.ts'

/** An insertion or a replacement whose content arrives in pieces: exactly one of the members. */
export interface StreamEditRequest {
  readonly insert?: {
    readonly before?: TargetRequest
    readonly after?: TargetRequest
    readonly into?: TargetRequest
    readonly at?: string
  }
  readonly replace?: { readonly find: TargetRequest; readonly occurrence?: number }
}

/** The place of a stream, as the caller names it. */
export interface StreamPlaceRequest {
  /** As in `ContentTarget`. */
  readonly contentKey?: string | undefined
  readonly edit: StreamEditRequest
}

/** The place of a stream in the ids of Yjs, so that it stays the same place after edits of others. */
export interface StreamPlace {
  readonly contentKey: string
  readonly kind: TextKind
  /** The place of the first piece: a relative position in base64. */
  readonly position: string
  /** Line breaks around the whole content of the stream. */
  readonly before: '' | '\n'
  readonly after: '' | '\n'
}

/** A place that was found in a document. */
export interface FoundStreamPlace {
  readonly place: StreamPlace
  /** The content that the stream replaces. */
  readonly replaced: readonly StoredRange[]
  /** The target, as the response describes it. */
  readonly matched: MatchedPlace
}

/** The edit of a stream, as messages name it. */
const editName = 'edit'

/** Runs all checks of a request that need no document. @throws ApiError INVALID_ARGUMENT */
export const checkStreamEdit = ({ edit: { insert, replace } }: StreamPlaceRequest): Edit =>
  checkEdit(
    {
      ...(insert !== undefined && { insert: { ...insert, content: '', format: 'text' } }),
      ...(replace !== undefined && { replace: { ...replace, with: '', format: 'text' } }),
    },
    editName,
  )

/**
 * Finds the place of a stream. Reads the whole root, and changes nothing.
 * @param schema the schema of the root; null without one
 * @throws ApiError as for `applyEdits`
 */
export function findStreamPlace(
  doc: Y.Doc,
  request: StreamPlaceRequest,
  schema: ContentSchema | null,
): FoundStreamPlace {
  const edit = checkStreamEdit(request)
  const contentKey = contentKeyOf(doc, request.contentKey)
  requireRoot(doc, contentKey, request.contentKey)
  const kind = kindFor(rootKind(doc, contentKey), edit, contentKey, schema?.is === 'nodes')
  if (kind !== 'text')
    throw editNotSupported(
      `${editName}: the root ${shownName(contentKey)} is of type "${kind}"; a stream needs a root of type "text"`,
    )
  return placeInText(doc, doc.share.get(contentKey) ?? doc.get(contentKey), contentKey, edit)
}

/**
 * Returns a place that was found in an earlier version, if the document still has a part of the replaced content.
 * @throws ApiError FAILED_PRECONDITION if all of it was deleted
 */
export function requireReplaced(doc: Y.Doc, found: FoundStreamPlace): FoundStreamPlace {
  const { replaced } = found
  if (replaced.length > 0 && !replaced.some((range) => isAlive(doc, range)))
    throw targetNotFound(`${editName}: the target was deleted after baseVersion`)
  return found
}

/** Returns whether the document contains a part of a range. */
function isAlive({ store }: Y.Doc, { client, clock, length }: StoredRange): boolean {
  const end = Math.min(clock + length, Y.getState(store, client))
  for (let at = clock; at < end; ) {
    const item = Y.getItem(store, Y.createID(client, at))
    if (!item.deleted) return true
    at = item.id.clock + item.length
  }
  return false
}

/** The neighbor to which a position sticks when others insert text there. */
type Neighbor = 'left' | 'right'

function placeInText(doc: Y.Doc, root: SharedRoot, contentKey: string, edit: Edit): FoundStreamPlace {
  const view = readLineView(root)
  const { state } = view.source
  const around = (
    at: number,
    neighbor: Neighbor,
    before: '' | '\n' = '',
    after: '' | '\n' = '',
  ): StreamPlace => ({
    contentKey,
    kind: 'text',
    position: positionAt(root, indexAtOffset(state, at, neighbor === 'right'), neighbor),
    before,
    after,
  })
  if (edit.is === 'insert' && !('target' in edit.place)) {
    const isStart = edit.place.at === 'start'
    return {
      place: isStart ? around(0, 'left') : around(state.text.length, 'right'),
      replaced: [],
      matched: {},
    }
  }
  const target = { view, doc, contentKey, resolved: () => {} }
  if (edit.is === 'insert' && 'target' in edit.place) {
    const found = resolveTarget(target, edit.place.target, editName)
    const { at, before, after } = insertionPlace(view, edit.place.at, found)
    const neighbor = edit.place.at === 'before' ? 'right' : 'left'
    return {
      place: around(at, neighbor, before, after),
      replaced: [],
      matched: placeOfTarget(view, found),
    }
  }
  if (edit.is !== 'replace') throw new TypeError(`a stream cannot be an edit ${edit.is}`)
  const found = resolveTarget(target, edit.target, editName)
  const [start, end] = rangeOfTarget(view, found)
  const [from, to] = [indexAtOffset(state, start, true), indexAtOffset(state, end, false)]
  return {
    place: around(end, 'left'),
    replaced: idsBetween(root, from, to),
    matched: placeOfTarget(view, found),
  }
}

/** Returns a relative position in base64. It sticks to a character, or to the end of the type. */
function positionAt(type: SharedRoot, index: number, neighbor: Neighbor): string {
  const position = Y.createRelativePositionFromTypeIndex(type, index, neighbor === 'left' ? -1 : 0)
  return Buffer.from(Y.encodeRelativePosition(position)).toString('base64')
}
