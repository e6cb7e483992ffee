import type { Key } from '../engine/engine.ts'
import type { ActionUser } from '../events/activity.ts'
import { commentKeys as keys } from './comment-keys.ts'
import { type AnnotationRecord, type CommentRecord, putAnnotation, putComment } from './comment-records.ts'
import type { Reader } from './reader.ts'
import type { Transaction } from './transaction.ts'

/** Where a user is named in annotations. */
export type CommentTrace =
  /** Made it, or is to see to it. */
  | { readonly kind: 'annotation'; readonly annotation: AnnotationRecord }
  /** Says it, or reacts to it. */
  | { readonly kind: 'comment'; readonly annotation: AnnotationRecord; readonly comment: CommentRecord }

/** What ties of a user lead to, in their order; null where that is gone. */
export async function commentTraces(
  reader: Reader,
  ties: readonly Key[],
): Promise<readonly (CommentTrace | null)[]> {
  const annotations = await reader.getAll<AnnotationRecord>(
    ties.map((tie) => keys.annotation(annotationIn(tie))),
  )
  const comments = await reader.getAll<CommentRecord>(ties.map(commentKeyOf))
  return ties.map((tie, index) => {
    const [annotation, comment] = [annotations[index] ?? null, comments[index] ?? null]
    if (annotation === null) return null
    if (orderIn(tie) === '') return { kind: 'annotation', annotation }
    return comment === null ? null : { kind: 'comment', annotation, comment }
  })
}

/**
 * Puts somebody else in a user's place wherever annotations and comments name the user, at most `limit` of them; texts
 * stay. To be called until it returns 0: how many were found.
 */
export async function replaceCommenter(
  transaction: Transaction,
  userId: string,
  other: ActionUser,
  limit: number,
): Promise<number> {
  const entries = await transaction.scan({ prefix: keys.tiesOf(userId), limit })
  const ties = entries.map(({ key }) => key)
  const replaced = (user: ActionUser): ActionUser => (user.userId === userId ? other : user)
  await transaction.getAll(ties.map(recordKeyOf))
  for (const tie of ties) {
    if (orderIn(tie) === '') {
      const before = await transaction.get<AnnotationRecord>(recordKeyOf(tie))
      if (before !== null) putAnnotation(transaction, before, withUsers(before, replaced))
    } else {
      const before = await transaction.get<CommentRecord>(recordKeyOf(tie))
      const annotationId = annotationIn(tie)
      if (before !== null) putComment(transaction, annotationId, before, withCommenters(before, replaced))
    }
    transaction.delete(tie)
  }
  return ties.length
}

type Replace = (user: ActionUser) => ActionUser

const withUsers = (annotation: AnnotationRecord, replaced: Replace): AnnotationRecord => ({
  ...annotation,
  createdBy: replaced(annotation.createdBy),
  assignedTo: annotation.assignedTo === null ? null : replaced(annotation.assignedTo),
})

const withCommenters = (comment: CommentRecord, replaced: Replace): CommentRecord => ({
  ...comment,
  from: replaced(comment.from),
  reactions: comment.reactions.map((reaction) => ({ ...reaction, user: replaced(reaction.user) })),
})

const annotationIn = (tie: Key): string => tie.at(-2) as string
/** '' where the annotation itself names the user. */
const orderIn = (tie: Key): string => tie.at(-1) as string
const commentKeyOf = (tie: Key): Key => keys.comment(annotationIn(tie), orderIn(tie))
const recordKeyOf = (tie: Key): Key =>
  orderIn(tie) === '' ? keys.annotation(annotationIn(tie)) : commentKeyOf(tie)
