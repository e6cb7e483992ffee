import { commentKeys as keys } from '../directory/comment-keys.ts'
import {
  type AnnotationRecord,
  type CommentRecord,
  dropComment,
  putComment,
} from '../directory/comment-records.ts'
import { eachItem, ItemRefused, type Results } from '../directory/items.ts'
import type { OrganizationScope } from '../directory/organization-keys.ts'
import type { Page, PageRange } from '../directory/page.ts'
import { decodeRecord } from '../directory/records.ts'
import { touched } from '../directory/touched.ts'
import type { Transaction } from '../directory/transaction.ts'
import { appendComments, type NewComment } from './adding.ts'
import { type Acting, added, type CommentParts } from './annotations.ts'
import { commentLimits as limits } from './limits.ts'
import { type Happening, occurrenceOf } from './occurrences.ts'
import { type AnnotationAddress, findComment, readComments, requireAnnotation, threadOf } from './reading.ts'

/** Comments that are read at a time for a page. */
const commentsAtOnce = 100

/** Which thread somebody works on. */
export interface ActingOn extends Acting {
  readonly annotationId: string
}

export interface CommentChange {
  readonly commentId: string
  readonly text: string
}

/** What a change of one thread works with. */
export interface ThreadChange {
  readonly transaction: Transaction
  readonly annotation: AnnotationRecord
  readonly happened: Happening[]
}

/** Why a comment is not added. */
export const commentIdUsed = 'the comment id is used already'

/**
 * The comments of annotations. Every call throws ApiError NOT_FOUND when the organization, the document or the
 * annotation does not exist.
 */
export class Threads {
  readonly #parts: CommentParts

  constructor(parts: CommentParts) {
    this.#parts = parts
  }

  /** Adds comments to the end. What has the id already stays as it is. */
  add(acting: ActingOn, comments: readonly NewComment[]): Promise<Results> {
    const { annotationId, actionUser } = acting
    return changeThread(this.#parts, acting, async ({ transaction, annotation, happened }) => {
      const thread = await threadOf(transaction, annotationId)
      await transaction.getAll(comments.map(({ commentId }) => keys.commentPlace(annotationId, commentId)))
      const fresh: NewComment[] = []
      const results = await eachItem(comments, idOf, async (comment) => {
        if ((await findComment(transaction, annotationId, comment.commentId)) !== null)
          throw new ItemRefused(commentIdUsed)
        if (thread.count + fresh.length >= limits.comments)
          throw new ItemRefused(`an annotation has at most ${limits.comments} comments`)
        fresh.push(comment)
        return 'added'
      })
      const now = this.#parts.clock.now()
      for (const comment of appendComments(transaction, annotationId, thread, fresh, now))
        happened.push(added(actionUser, annotation, comment))
      return results
    })
  }

  /** Those of the named comments that there are, in the order of the ids. */
  async find(
    scope: OrganizationScope,
    address: AnnotationAddress,
    commentIds: readonly string[],
  ): Promise<readonly CommentRecord[]> {
    const reader = this.#parts.store.read(scope)
    await requireAnnotation(reader, address)
    return readComments(reader, address.annotationId, [...new Set(commentIds)])
  }

  /** A page of comments, the oldest first. It may have fewer than `limit`, and yet not be the last. */
  async list(
    scope: OrganizationScope,
    address: AnnotationAddress,
    { after, limit }: PageRange,
  ): Promise<Page<CommentRecord>> {
    const reader = this.#parts.store.read(scope)
    await requireAnnotation(reader, address)
    const prefix = keys.comments(address.annotationId)
    const items: CommentRecord[] = []
    let last = after
    for (let bytes = 0; items.length < limit && bytes < limits.pageBytes; ) {
      const size = Math.min(commentsAtOnce, limit - items.length)
      const from = last === undefined ? {} : { after: [...prefix, last] }
      const entries = await reader.scan({ prefix, limit: size + 1, ...from })
      const slice = entries.slice(0, size)
      items.push(...slice.map(({ value }) => decodeRecord(value) as CommentRecord))
      if (entries.length <= size) return { items, next: null }
      bytes += slice.reduce((sum, { value }) => sum + value.length, 0)
      last = items.at(-1)?.order
    }
    return { items, next: last ?? null }
  }

  update(acting: ActingOn, changes: readonly CommentChange[]): Promise<Results> {
    const { annotationId, actionUser } = acting
    return changeThread(this.#parts, acting, async ({ transaction, annotation, happened }) => {
      await readComments(transaction, annotationId, changes.map(idOf))
      return eachItem(changes, idOf, async ({ commentId, text }) => {
        const before = await commentOf(transaction, annotationId, commentId)
        const comment = touched<CommentRecord>(before, { text }, this.#parts.clock.now())
        if (comment === before) return 'unchanged'
        putComment(transaction, annotationId, before, comment)
        const changed = { text: { from: before.text, to: text } }
        happened.push({ action: 'comment.update', actionUser, annotation, comment, changes: changed })
        return 'updated'
      })
    })
  }

  delete(acting: ActingOn, commentIds: readonly string[]): Promise<Results> {
    const { annotationId, actionUser } = acting
    return changeThread(this.#parts, acting, async ({ transaction, annotation, happened }) => {
      const thread = await threadOf(transaction, annotationId)
      await readComments(transaction, annotationId, commentIds)
      let { count } = thread
      const results = await eachItem(
        commentIds,
        (id) => id,
        async (commentId) => {
          const comment = await commentOf(transaction, annotationId, commentId)
          dropComment(transaction, annotationId, comment)
          count -= 1
          happened.push({ action: 'comment.delete', actionUser, annotation, comment })
          return 'deleted'
        },
      )
      transaction.put(keys.thread(annotationId), { ...thread, count })
      return results
    })
  }
}

/** Changes one thread, with what has happened, in one commit. */
export function changeThread<T>(
  { store, events }: CommentParts,
  { scope, ...address }: ActingOn,
  work: (change: ThreadChange) => Promise<T>,
): Promise<T> {
  return store.change(scope, async (transaction) => {
    const annotation = await requireAnnotation(transaction, address)
    const happened: Happening[] = []
    const result = await work({ transaction, annotation, happened })
    events.recordNew(transaction, scope, happened.map(occurrenceOf))
    return result
  })
}

/** @throws ItemRefused unless the annotation has it */
export async function commentOf(
  transaction: Transaction,
  annotationId: string,
  commentId: string,
): Promise<CommentRecord> {
  const comment = await findComment(transaction, annotationId, commentId)
  if (comment === null) throw new ItemRefused('there is no such comment')
  return comment
}

const idOf = ({ commentId }: { readonly commentId: string }): string => commentId
