import { commentOrder, commentKeys as keys } from '../directory/comments/comment-keys.ts'
import { type CommentRecord, putComment, type ThreadRecord } from '../directory/comments/comment-records.ts'
import type { Transaction } from '../directory/store/transaction.ts'
import type { ActionUser } from '../events/activity.ts'

/** A comment that is to be added. */
export interface NewComment {
  readonly commentId: string
  readonly from: ActionUser
  readonly text: string
}

/** Adds comments whose ids are free to the end of a thread. @param thread as it was; @returns them as they are stored */
export function appendComments(
  transaction: Transaction,
  annotationId: string,
  thread: ThreadRecord,
  comments: readonly NewComment[],
  now: number,
): readonly CommentRecord[] {
  const added = comments.map(({ commentId, from, text }, index) => ({
    commentId,
    order: commentOrder(thread.next + index),
    from,
    text,
    reactions: [],
    createdAt: now,
    lastUpdated: now,
  }))
  for (const comment of added) putComment(transaction, annotationId, null, comment)
  const { length } = added
  const next = { count: thread.count + length, next: thread.next + length } satisfies ThreadRecord
  transaction.put(keys.thread(annotationId), next)
  return added
}
