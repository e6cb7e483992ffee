import type { Transaction } from '../../core/directory/store/transaction.ts'
import type { ActionUser } from '../../core/events/activity.ts'
import { commentOrder, commentKeys as keys } from './comment-keys.ts'
import { type CommentRecord, putComment, type ThreadRecord } from './comment-records.ts'

/** A comment to add. */
export interface NewComment {
  readonly commentId: string
  readonly from: ActionUser
  readonly text: string
}

/**
 * Appends comments to a thread. The ids of the comments must be unused.
 * @param thread record of the thread before the change
 * @returns the stored comments
 */
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
