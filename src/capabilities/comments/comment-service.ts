import type { OrganizationScope } from '../../core/directory/organizations/organization-keys.ts'
import { type BatchResults, forEachItem, ItemRejectedError } from '../../core/directory/store/batch.ts'
import type { ListPage, PageRange } from '../../core/directory/store/list-page.ts'
import { patchRecord } from '../../core/directory/store/patch-record.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import { readRecord } from '../../core/store/stored-record.ts'
import { type ActionScope, commentAdded } from './annotation-service.ts'
import { type AnnotationAction, annotationEvent } from './comment-events.ts'
import { commentKeys as keys } from './comment-keys.ts'
import { forgetJudged, quotingActivityId, removeQuotes } from './comment-quotes.ts'
import {
  type AnnotationRecord,
  appendComments,
  type CommentRecord,
  commentRecordType,
  deleteCommentRecord,
  type NewComment,
  putComment,
} from './comment-records.ts'
import {
  type AnnotationAddress,
  findComment,
  readComments,
  requireAnnotation,
  threadOf,
} from './find-comments.ts'
import type { CommentDependencies } from './judgment-recorder.ts'
import { commentLimits as limits } from './limits.ts'

/** Maximum number of comments in one read. */
const commentsAtOnce = 100

/** The thread that is changed, and the acting user. */
export interface ThreadScope extends ActionScope {
  readonly annotationId: string
}

interface CommentChange {
  readonly commentId: string
  readonly text: string
}

/** The transaction of a change of one thread, the annotation of the thread, and the actions so far. */
export interface ThreadChange {
  readonly transaction: Transaction
  readonly annotation: AnnotationRecord
  readonly happened: AnnotationAction[]
}

/**
 * Manages the comments of annotations. Every method throws ApiError NOT_FOUND if the organization, the
 * document or the annotation does not exist.
 */
export class CommentService {
  readonly #dependencies: CommentDependencies

  constructor(dependencies: CommentDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Appends comments to a thread. A comment whose id is already in use is rejected, and the stored comment
   * stays unchanged.
   */
  add(acting: ThreadScope, comments: readonly NewComment[]): Promise<BatchResults> {
    const { annotationId, actionUser } = acting
    return changeThread(this.#dependencies, acting, async ({ transaction, annotation, happened }) => {
      const thread = await threadOf(transaction, annotationId)
      await transaction.getAll(comments.map(({ commentId }) => keys.commentPlace(annotationId, commentId)))
      const fresh: NewComment[] = []
      const results = await forEachItem(comments, 'commentId', async (comment) => {
        if ((await findComment(transaction, annotationId, comment.commentId)) !== null)
          throw new ItemRejectedError('comment/id-taken', 'the comment id is used already')
        if (thread.count + fresh.length >= limits.comments)
          throw new ItemRejectedError(
            'comment/too-many',
            `an annotation has at most ${limits.comments} comments; add another annotation`,
          )
        fresh.push(comment)
        return 'added'
      })
      const now = this.#dependencies.clock.now()
      for (const comment of appendComments(transaction, annotationId, thread, fresh, now))
        happened.push(commentAdded(transaction, actionUser, annotation, comment))
      return results
    })
  }

  /** Returns the comments that exist and have one of the ids `commentIds`, in the order of the ids. */
  async find(
    scope: OrganizationScope,
    address: AnnotationAddress,
    commentIds: readonly string[],
  ): Promise<readonly CommentRecord[]> {
    const reader = this.#dependencies.store.read(scope)
    await requireAnnotation(reader, address)
    return readComments(reader, address.annotationId, [...new Set(commentIds)])
  }

  /**
   * Returns a page of comments, the oldest first. A page that is not the last one may also have fewer than
   * `limit` items.
   */
  async list(
    scope: OrganizationScope,
    address: AnnotationAddress,
    { after, limit }: PageRange,
  ): Promise<ListPage<CommentRecord>> {
    const reader = this.#dependencies.store.read(scope)
    await requireAnnotation(reader, address)
    const prefix = keys.comments(address.annotationId)
    const items: CommentRecord[] = []
    let last = after
    for (let bytes = 0; items.length < limit && bytes < limits.pageBytes; ) {
      const size = Math.min(commentsAtOnce, limit - items.length)
      const from = last === undefined ? {} : { after: [...prefix, last] }
      const entries = await reader.scan({ prefix, limit: size + 1, ...from })
      const slice = entries.slice(0, size)
      items.push(...slice.map((entry) => readRecord(commentRecordType, entry)))
      if (entries.length <= size) return { items, next: null }
      bytes += slice.reduce((sum, { value }) => sum + value.length, 0)
      last = items.at(-1)?.order
    }
    return { items, next: last ?? null }
  }

  update(acting: ThreadScope, changes: readonly CommentChange[]): Promise<BatchResults> {
    const { annotationId, actionUser } = acting
    return changeThread(this.#dependencies, acting, async ({ transaction, annotation, happened }) => {
      await readComments(
        transaction,
        annotationId,
        changes.map(({ commentId }) => commentId),
      )
      return forEachItem(changes, 'commentId', async ({ commentId, text }) => {
        const before = await commentOf(transaction, annotationId, commentId)
        const comment = patchRecord<CommentRecord>(before, { text }, this.#dependencies.clock.now())
        if (comment === before) return 'unchanged'
        await this.#forgetWords(transaction, acting, before)
        putComment(transaction, annotationId, before, comment)
        happened.push({
          action: 'comment.update',
          actionUser,
          annotation,
          comment,
          changes: { text: { from: before.text, to: text } },
          quotedBy: quotingActivityId(transaction, annotationId, comment),
        })
        return 'updated'
      })
    })
  }

  delete(acting: ThreadScope, commentIds: readonly string[]): Promise<BatchResults> {
    const { annotationId, actionUser } = acting
    return changeThread(this.#dependencies, acting, async ({ transaction, annotation, happened }) => {
      const thread = await threadOf(transaction, annotationId)
      await readComments(transaction, annotationId, commentIds)
      let { count } = thread
      const results = await forEachItem(commentIds, null, async (commentId) => {
        const comment = await commentOf(transaction, annotationId, commentId)
        await this.#forgetWords(transaction, acting, comment)
        deleteCommentRecord(transaction, annotationId, comment)
        count -= 1
        happened.push({ action: 'comment.delete', actionUser, annotation, comment })
        return 'deleted'
      })
      transaction.put(keys.thread(annotationId), { ...thread, count })
      return results
    })
  }

  /**
   * Deletes the judgments that quote a comment. Removes the text of the comment from the activities that
   * quote it.
   */
  async #forgetWords(
    transaction: Transaction,
    { scope, annotationId }: ThreadScope,
    comment: CommentRecord,
  ): Promise<void> {
    const { memory } = this.#dependencies
    await forgetJudged(transaction, annotationId, [comment], (judgmentIds) =>
      memory.delete(scope, judgmentIds),
    )
    await removeQuotes(transaction, annotationId, [comment])
  }
}

/** Changes one thread, and records the events of the change in the same commit. */
export function changeThread<T>(
  { store, events }: CommentDependencies,
  { scope, ...address }: ThreadScope,
  work: (change: ThreadChange) => Promise<T>,
): Promise<T> {
  return store.change(scope, async (transaction) => {
    const annotation = await requireAnnotation(transaction, address)
    const happened: AnnotationAction[] = []
    const result = await work({ transaction, annotation, happened })
    events.recordNew(transaction, scope, happened.map(annotationEvent))
    return result
  })
}

/** Returns the comment with an id. @throws ItemRejectedError if the annotation has no such comment */
async function commentOf(
  transaction: Transaction,
  annotationId: string,
  commentId: string,
): Promise<CommentRecord> {
  const comment = await findComment(transaction, annotationId, commentId)
  if (comment === null) throw new ItemRejectedError('comment/not-found', 'there is no such comment')
  return comment
}
