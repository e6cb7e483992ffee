import type { Acting } from '../comments/annotations.ts'
import { commentLimits as limits } from '../comments/limits.ts'
import type { SuggestionChange } from '../comments/updating.ts'
import { isRelativePosition } from '../content/position.ts'
import type { Anchor } from '../directory/comment-records.ts'
import { noResults, type Results } from '../directory/items.ts'
import type { ActionUser } from '../events/activity.ts'
import { decodeBase64 } from './base64.ts'
import type { CallIds } from './call-ids.ts'
import type { anchor, newComments, newSuggestion, suggestionChange } from './comment-schema.ts'
import { onlyKnown } from './notification-schema.ts'
import type { Context } from './operation.ts'
import type { From } from './schema.ts'
import { invalidAt } from './validator.ts'

/** Who does something where, from what a call says. */
export const actingOf = (
  { caller }: Context,
  {
    organizationId,
    documentId,
    actionUser,
  }: { readonly organizationId: string; readonly documentId: string; readonly actionUser: ActionUser },
): Acting => ({
  scope: { ...caller.tenant, organizationId },
  documentId,
  actionUser: onlyKnown(actionUser),
})

/** An anchor as it is stored; undefined when none is given. @param at its JSON pointer @throws ApiError INVALID_ARGUMENT */
export function anchorOf(at: string, given: From<typeof anchor> | undefined): Anchor | undefined {
  if (given === undefined) return undefined
  const { editorId, contentKey = 'content', position, positionEnd } = given
  for (const [name, text] of Object.entries({ position, positionEnd })) {
    if (text === undefined) continue
    const bytes = decodeBase64(text)
    if (bytes === null || bytes.length > limits.positionBytes || !isRelativePosition(bytes))
      throw invalidAt({
        path: `${at}/${name}`,
        message: 'must be a Yjs relative position, encoded and base64',
      })
  }
  return { editorId, contentKey, position, ...(positionEnd !== undefined && { positionEnd }) }
}

/** @param at JSON pointer of the object that has them @throws ApiError INVALID_ARGUMENT for what is too large */
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

/** @param at JSON pointer of the list @throws ApiError INVALID_ARGUMENT for a text that is too long */
export function checkTexts(at: string, comments: readonly { readonly text: string }[]): void {
  for (const [index, { text }] of comments.entries()) {
    if (!text.isWellFormed())
      throw invalidAt({ path: `${at}/${index}/text`, message: 'must be well-formed Unicode' })
    if (Buffer.byteLength(text) > limits.textBytes)
      throw invalidAt({
        path: `${at}/${index}/text`,
        message: `must be at most ${limits.textBytes} bytes of UTF-8`,
      })
  }
}

/**
 * What became of items that were added. One with an id that was made for this very call, and is used already, was added
 * when the call was made before.
 * @param used the message of an item whose id is used
 */
export const withEarlier = (results: Results, ids: CallIds, used: string): Results =>
  Object.assign(
    noResults(),
    Object.fromEntries(
      Object.entries(results).map(([id, result]) => [
        id,
        result.message === used && ids.isMade(id) ? { success: true, id, message: 'added' } : result,
      ]),
    ),
  )

/** Comments as they are added, with ids. */
export const commentsOf = (given: From<typeof newComments>, ids: CallIds) =>
  given.map(({ commentId = ids.make(), from, text }) => ({ commentId, from: onlyKnown(from), text }))

export const suggestionOf = (given: From<typeof newSuggestion> | undefined) =>
  given === undefined ? null : ({ status: 'pending', content: given.content ?? null } as const)

/** Undefined when nothing is to be changed. @param at its JSON pointer @throws ApiError INVALID_ARGUMENT for more than one */
export function suggestionChangeOf(
  at: string,
  given: From<typeof suggestionChange> | undefined,
): SuggestionChange | undefined {
  if (given === undefined) return undefined
  const { accept = false, reject = false, content } = given
  const changes: SuggestionChange[] = []
  if (accept) changes.push({ kind: 'accept' })
  if (reject) changes.push({ kind: 'reject' })
  if (content !== undefined) changes.push({ kind: 'replace', content })
  if (changes.length > 1)
    throw invalidAt({ path: at, message: 'must have only one of accept, reject and content' })
  return changes[0]
}
