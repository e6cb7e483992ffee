import { ApiError, invalid } from '../core/base/errors.ts'
import type { FromSchema } from '../core/base/schema.ts'
import type { FoundAnchor, RequestedCursor } from '../core/content/edit/anchors.ts'
import { checkEditTarget } from '../core/content/edit/check-edits.ts'
import { jsonBytesUpTo } from '../core/model/json-pieces.ts'
import { BackendEdits } from '../core/rooms/edits/backend-edits.ts'
import type { PresenceInput } from '../core/rooms/presence/document-presence.ts'
import { type PresenceCursor, presenceDataBytesMax } from '../core/rooms/presence/rest-presence.ts'
import { editorAddress } from './editor-content.ts'
import { type DocumentIds, listMainEditors } from './list-editors.ts'
import { othersOf } from './open-members.ts'
import type { TenantContext } from './operation.ts'
import { presenceInputs } from './schemas/presence-schema.ts'
import { invalidAt } from './validator.ts'

type PresentUserRequest = FromSchema<typeof presenceInputs>[number]

/** A validated cursor whose place has not been found yet. */
interface CheckedCursor extends RequestedCursor {
  /** Undefined: the only editor of the document. */
  readonly editorId: string | undefined
  readonly at: 'start' | 'end' | undefined
}

/** A validated user of a request, with the place of a cursor if it has one. */
interface CheckedUser {
  readonly user: Omit<PresentUserRequest, 'cursor'> & Pick<PresenceInput, 'others'>
  readonly cursor: CheckedCursor | null | undefined
}

/** Runs the checks of users that the schema does not contain. @throws ApiError INVALID_ARGUMENT */
export const checkPresentUsers = (users: readonly PresentUserRequest[]): readonly CheckedUser[] =>
  users.map(({ cursor, ...user }, index) => {
    const pointer = `/data/users/${index}`
    if (jsonBytesUpTo(user.data ?? {}, presenceDataBytesMax) > presenceDataBytesMax)
      throw invalidAt({
        path: `${pointer}/data`,
        message: `must be at most ${presenceDataBytesMax} bytes as JSON`,
      })
    if (user.color !== undefined && !/^#[0-9a-f]{6}$/i.test(user.color))
      throw invalidAt({ path: `${pointer}/color`, message: 'must be a color as #rrggbb, such as #0b57a4' })
    const others = othersOf(presenceInputs.items, user)
    return { user: { ...user, others }, cursor: cursor && checkedCursor(cursor, pointer, index) }
  })

const targetNames = ['quote', 'heading', 'row', 'attribute', 'block', 'anchor', 'end'] as const

function checkedCursor(
  { editorId, contentKey, end, at, ...target }: NonNullable<PresentUserRequest['cursor']>,
  pointer: string,
  index: number,
): CheckedCursor {
  const place = `users[${index}].cursor`
  const { anchor } = target
  const named = { editorId: editorId ?? anchor?.editorId, contentKey: contentKey ?? anchor?.contentKey }
  if (anchor?.editorId !== undefined && anchor.editorId !== named.editorId)
    throw invalidAt({ path: `${pointer}/cursor/editorId`, message: 'must be the editor of the anchor' })
  if (anchor?.contentKey !== undefined && anchor.contentKey !== named.contentKey)
    throw invalidAt({ path: `${pointer}/cursor/contentKey`, message: 'must be the root of the anchor' })
  const names = targetNames.filter((name) => (name === 'end' ? end === true : target[name] !== undefined))
  if (names.length !== 1)
    throw invalidAt({
      path: `${pointer}/cursor`,
      message: `must have exactly one of ${targetNames.join(', ')}`,
    })
  return { ...named, at, place, target: end === true ? { is: 'end' } : checkEditTarget(target, place) }
}

/**
 * Returns the users with the positions of their cursors. Finds the places in the present content.
 * @throws ApiError FAILED_PRECONDITION if a place is missing or ambiguous; NOT_FOUND, INVALID_ARGUMENT for its editor
 * or root; RESOURCE_EXHAUSTED, UNAVAILABLE as for a large read
 */
export async function placeCursors(
  context: TenantContext,
  document: DocumentIds,
  users: readonly CheckedUser[],
): Promise<readonly PresenceInput[]> {
  const cursors = users.flatMap(({ cursor }) => cursor ?? [])
  const found = await foundCursors(context, document, cursors)
  return users.map(({ user, cursor }) => ({
    ...user,
    ...(cursor !== undefined && { cursor: cursor === null ? null : (found.get(cursor) as PresenceCursor) }),
  }))
}

/** Searches the editors that cursors name, one after the other. Reads each editor once. */
async function foundCursors(
  context: TenantContext,
  document: DocumentIds,
  cursors: readonly CheckedCursor[],
): Promise<ReadonlyMap<CheckedCursor, PresenceCursor>> {
  const places = new Map<CheckedCursor, PresenceCursor>()
  if (cursors.length === 0) return places
  const { caller, services } = context
  const { organizationId, documentId } = document
  const only = cursors.some(({ editorId }) => editorId === undefined)
    ? await onlyEditor(context, document)
    : ''
  const attachments = await services.schemas.attachedIn({ ...caller.tenant, organizationId }, documentId)
  for (const editorId of new Set(cursors.map((cursor) => cursor.editorId ?? only))) {
    const inEditor = cursors.filter((cursor) => (cursor.editorId ?? only) === editorId)
    const queries = inEditor.map(
      ({ contentKey = attachments.get(editorId)?.contentKey, target, place }): RequestedCursor => ({
        contentKey,
        target,
        place,
      }),
    )
    const answers = await services.rooms.use(editorAddress(caller, { ...document, editorId }), (room) =>
      new BackendEdits(room).anchors({ find: [], cursors: queries, show: [] }),
    )
    for (const [index, cursor] of inEditor.entries())
      places.set(cursor, placed(editorId, cursor, answers?.cursors[index]))
  }
  return places
}

function placed(editorId: string, { at }: CheckedCursor, found: FoundAnchor | undefined): PresenceCursor {
  if (found !== undefined && 'problem' in found) {
    const { code, message, details } = found.problem
    throw new ApiError(code, message, details && { details })
  }
  if (found === undefined || found.range === null) throw new TypeError('a cursor has no place')
  const { contentKey, range } = found
  const { position, positionEnd } = range
  if (at === 'start') return { editorId, contentKey, position, positionEnd: position }
  return { editorId, contentKey, position: at === 'end' ? positionEnd : position, positionEnd }
}

/** Returns the only editor of a document with content. @throws ApiError INVALID_ARGUMENT if there is not exactly one */
async function onlyEditor({ caller, services }: TenantContext, document: DocumentIds): Promise<string> {
  const [only, other] = await listMainEditors(services, caller, document, 2)
  if (only !== undefined && other === undefined) return only
  const count = only === undefined ? 'no editor with content' : 'several editors'
  throw invalid('request/invalid-member', `the document has ${count}; name the editor in cursor.editorId`)
}
