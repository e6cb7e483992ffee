import { randomUUID } from 'node:crypto'
import { emptyValue } from '../../core/directory/store/records.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import type { ActivityRecord } from '../../core/events/activity.ts'
import { readActivities, replaceActivity } from '../../core/events/activity-store.ts'
import { lastSegment } from '../../core/store/key-encoding.ts'
import { entryPages } from '../../core/store/pages.ts'
import { commentKeys as keys } from './comment-keys.ts'
import { type CommentPosition, type CommentRecord, commentPositionType } from './comment-records.ts'

/**
 * Templates of the activities that quote a comment, by event type. `withoutWords` replaces `quoting` when the
 * text of the comment is removed from the activity.
 */
export const quotingTemplates = {
  'comment.add': {
    quoting: '{{actionUser}} commented: {{to}}',
    withoutWords: '{{actionUser}} commented',
  },
  'comment.update': {
    quoting: '{{actionUser}} changed a comment: {{to}}',
    withoutWords: '{{actionUser}} changed a comment',
  },
} as const

/**
 * Generates an id for the activity that will quote a comment. Stores this id in the position record of the
 * comment.
 */
export function quotingActivityId(
  transaction: Transaction,
  annotationId: string,
  { commentId, order }: CommentRecord,
): string {
  const quotedBy = randomUUID()
  transaction.put(keys.commentPlace(annotationId, commentId), { order, quotedBy } satisfies CommentPosition)
  return quotedBy
}

/**
 * Removes the text of comments from the activities that quote them. Call this function before the comments
 * are changed or deleted. Only the activity of a comment's last change can quote the comment.
 */
export async function removeQuotes(
  transaction: Transaction,
  annotationId: string,
  comments: readonly CommentRecord[],
): Promise<void> {
  const places = await transaction.getAll(
    comments.map(({ commentId }) => keys.commentPlace(annotationId, commentId)),
    commentPositionType,
  )
  const ids = places.flatMap((place) => place?.quotedBy ?? [])
  const activities = await readActivities(transaction, ids)
  for (const activity of activities.values()) replaceActivity(transaction, activity, withoutWords(activity))
}

/**
 * Returns an activity without the text of the comment. If a caller has replaced the template of the activity,
 * the new template stays.
 */
function withoutWords(activity: ActivityRecord): ActivityRecord {
  const { changes = {}, displayMessageTemplate, displayMessageTemplateData = {} } = activity
  const { text: _text, ...otherChanges } = changes
  const { from: _from, to: _to, ...otherData } = displayMessageTemplateData
  const template = Object.values(quotingTemplates).find(({ quoting }) => quoting === displayMessageTemplate)
  return {
    ...activity,
    changes: otherChanges,
    ...(template !== undefined && { displayMessageTemplate: template.withoutWords }),
    displayMessageTemplateData: otherData,
  }
}

/** Maximum number of records in one read. */
const marksAtOnce = 200

/**
 * Identifies a comment permanently. The id alone does not suffice, because a later comment may get the same
 * id.
 */
export type JudgedComment = Pick<CommentRecord, 'commentId' | 'order' | 'createdAt'> & {
  readonly annotationId: string
}

/** Records in the index that a judgment quotes a comment. */
export function markJudged(
  transaction: Transaction,
  { annotationId, order }: JudgedComment,
  judgmentId: string,
): void {
  transaction.put([...keys.judged(annotationId), order, judgmentId], emptyValue)
}

/**
 * Deletes the judgments that quote comments of an annotation. Call this function before the transaction
 * deletes these comments. The transaction may be repeated after the judgments were deleted, which is
 * harmless. If a decision adds a judgment meanwhile, it also changes the annotation, so the transaction is
 * repeated.
 */
export async function forgetJudged(
  transaction: Transaction,
  annotationId: string,
  comments: readonly CommentRecord[],
  forget: (judgmentIds: readonly string[]) => Promise<unknown>,
): Promise<void> {
  const orders = new Set<string | undefined>(comments.map(({ order }) => order))
  const range = { prefix: keys.judged(annotationId), limit: marksAtOnce }
  for await (const marks of entryPages((page) => transaction.scan(page), range)) {
    const due = marks.filter(({ key }) => orders.has(key.at(-2)))
    if (due.length > 0) await forget(due.map(({ key }) => lastSegment(key)))
    for (const { key } of due) transaction.delete(key)
  }
}
