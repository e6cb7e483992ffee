import type { ErrorCode } from '../../../core/base/errors.ts'
import type { FromSchema } from '../../../core/base/schema.ts'
import { isRelativePosition } from '../../../core/content/yjs/items.ts'
import { type BatchResults, emptyBatchResults } from '../../../core/directory/store/batch.ts'
import type { ActionUser } from '../../../core/events/activity.ts'
import { decodeBase64 } from '../../../core/model/base64.ts'
import type { TenantContext } from '../../../rest/operation.ts'
import type { SeededIds } from '../../../rest/seeded-ids.ts'
import { invalidAt } from '../../../rest/validator.ts'
import type { SuggestionChange } from '../annotation-changes.ts'
import type { ActionScope } from '../annotation-service.ts'
import { commentLimits as limits } from '../limits.ts'
import type { anchor, newComments, newSuggestion, suggestionChange } from './comment-schema.ts'

/** Returns the acting user and the scope of a call. */
export const actionScopeOf = (
  { caller }: TenantContext,
  {
    organizationId,
    documentId,
    actionUser,
  }: { readonly organizationId: string; readonly documentId: string; readonly actionUser: ActionUser },
): ActionScope => ({
  scope: { ...caller.tenant, organizationId },
  documentId,
  actionUser,
})

type GivenAnchor = FromSchema<typeof anchor>

interface GivenAnnotation {
  readonly location?: object
  readonly anchor?: GivenAnchor
  readonly suggestion?: FromSchema<typeof suggestionChange>
  readonly comments?: readonly { readonly text: string }[]
}

/**
 * Checks the rules of an annotation that schemas cannot check.
 * @param at JSON pointer of the annotation
 * @throws ApiError INVALID_ARGUMENT
 */
export function checkAnnotation(given: GivenAnnotation, at: string): void {
  checkSizes(at, given)
  for (const [index, comment] of (given.comments ?? []).entries())
    checkCommentText(comment, `${at}/comments/${index}`)
  if (given.anchor !== undefined) checkAnchor(given.anchor, `${at}/anchor`)
  const { accept = false, reject = false, content } = given.suggestion ?? {}
  if ([accept, reject, content !== undefined].filter(Boolean).length > 1)
    throw invalidAt({
      path: `${at}/suggestion`,
      message: 'must have only one of accept, reject and content',
    })
}

/** Names of the members of an anchor that need a quote. */
const quoteMembers = ['before', 'after', 'occurrence'] as const

function checkAnchor(given: GivenAnchor, at: string): void {
  const { position, quote } = given
  if (position === undefined && quote === undefined)
    throw invalidAt({ path: `${at}/position`, message: 'is required, unless the anchor has a quote' })
  for (const name of ['position', 'positionEnd'] as const) {
    if (quote !== undefined && given[name] !== undefined)
      throw invalidAt({ path: `${at}/${name}`, message: 'must not be sent together with quote' })
    checkPosition(`${at}/${name}`, given[name])
  }
  const needless = quote === undefined ? quoteMembers.find((name) => given[name] !== undefined) : undefined
  if (needless !== undefined) throw invalidAt({ path: `${at}/${needless}`, message: 'needs a quote' })
  if (quote?.trim() === '')
    throw invalidAt({ path: `${at}/quote`, message: 'must contain more than white space' })
}

function checkPosition(path: string, text: string | undefined): void {
  if (text === undefined) return
  const bytes = decodeBase64(text)
  if (bytes === null || bytes.length > limits.positionBytes || !isRelativePosition(bytes))
    throw invalidAt({ path, message: 'must be a Yjs relative position, encoded and base64' })
}

/**
 * Checks the sizes of the free-form members.
 * @param at JSON pointer of the object that contains these members
 * @throws ApiError INVALID_ARGUMENT if a member is too large
 */
export function checkSizes(
  at: string,
  {
    location,
    suggestion,
  }: { readonly location?: object; readonly suggestion?: { readonly content?: unknown } },
): void {
  checkBytes(`${at}/location`, location, limits.locationBytes)
  checkBytes(`${at}/suggestion/content`, suggestion?.content, limits.suggestionBytes)
}

function checkBytes(path: string, value: unknown, max: number): void {
  if (value === undefined || Buffer.byteLength(JSON.stringify(value)) <= max) return
  throw invalidAt({ path, message: `must be at most ${max} bytes as JSON` })
}

/**
 * Checks the text of a comment.
 * @param at JSON pointer of the comment
 * @throws ApiError INVALID_ARGUMENT if the text is too long or not well-formed
 */
export function checkCommentText({ text }: { readonly text: string }, at: string): void {
  const path = `${at}/text`
  if (!text.isWellFormed()) throw invalidAt({ path, message: 'must be well-formed Unicode' })
  if (Buffer.byteLength(text) > limits.textBytes)
    throw invalidAt({ path, message: `must be at most ${limits.textBytes} bytes of UTF-8` })
}

/**
 * Returns the results of a repeated call. Items that an earlier run of the call has added count as added:
 * their ids were created for this call and exist already.
 * @param used the error code for an id that exists already
 */
export const mergeEarlierResults = (results: BatchResults, ids: SeededIds, used: ErrorCode): BatchResults =>
  Object.assign(
    emptyBatchResults(),
    Object.fromEntries(
      Object.entries(results).map(([id, result]) => [
        id,
        result.details?.code === used && ids.isMade(id) ? { success: true, id, message: 'added' } : result,
      ]),
    ),
  )

/** Converts the comments of a request to new comments with ids. */
export const parseComments = (given: FromSchema<typeof newComments>, ids: SeededIds) =>
  given.map(({ commentId = ids.make(), from, text }) => ({
    commentId,
    from,
    text,
  }))

export const parseSuggestion = (given: FromSchema<typeof newSuggestion> | undefined) =>
  given === undefined ? null : ({ status: 'pending', content: given.content ?? null } as const)

/** Returns the change of a suggestion; undefined if nothing changes. */
export function suggestionChangeOf(
  given: FromSchema<typeof suggestionChange> | undefined,
): SuggestionChange | undefined {
  if (given?.accept === true) return { kind: 'accept' }
  if (given?.reject === true) return { kind: 'reject' }
  return given?.content === undefined ? undefined : { kind: 'replace', content: given.content }
}
