import { emptyValue } from '../../core/directory/store/records.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import { lastSegment } from '../../core/store/key-encoding.ts'
import { commentKeys as keys } from './comment-keys.ts'
import type { CommentRecord } from './comment-records.ts'

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
  const prefix = keys.judged(annotationId)
  for (let after = {}; ; ) {
    const marks = await transaction.scan({ prefix, limit: marksAtOnce, ...after })
    const due = marks.filter(({ key }) => orders.has(key.at(-2)))
    if (due.length > 0) await forget(due.map(({ key }) => lastSegment(key)))
    for (const { key } of due) transaction.delete(key)
    const last = marks.at(-1)
    if (last === undefined || marks.length < marksAtOnce) return
    after = { after: last.key }
  }
}
