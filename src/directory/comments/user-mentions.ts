import type { Key } from '../../engine/engine.ts'
import { withoutUser } from '../../model/named-users.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import type { Transaction } from '../store/transaction.ts'
import { commentKeys as keys } from './comment-keys.ts'
import { type AnnotationRecord, type CommentRecord, putAnnotation, putComment } from './comment-records.ts'

/** Where a user is named in annotations. */
export type UserMention =
  /** Made it, or is to see to it. */
  | { readonly kind: 'annotation'; readonly annotation: AnnotationRecord }
  /** Says it, or reacts to it. */
  | { readonly kind: 'comment'; readonly annotation: AnnotationRecord; readonly comment: CommentRecord }

/** What ties of a user lead to, in their order; null where that is gone. */
export async function findMentions(
  reader: DirectoryReader,
  ties: readonly Key[],
): Promise<readonly (UserMention | null)[]> {
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
 * Puts the deleted user in a user's place wherever annotations and comments name the user, at most `limit` of them;
 * texts stay. To be called until it returns 0: how many were found.
 */
export async function anonymiseComments(
  transaction: Transaction,
  userId: string,
  limit: number,
): Promise<number> {
  const entries = await transaction.scan({ prefix: keys.tiesOf(userId), limit })
  const ties = entries.map(({ key }) => key)
  const records = await transaction.getAll(ties.map(recordKeyOf))
  for (const [index, tie] of ties.entries()) {
    const before = records[index] ?? null
    if (before !== null && orderIn(tie) === '') {
      const annotation = before as AnnotationRecord
      putAnnotation(transaction, annotation, anonymousAnnotation(annotation, userId))
    } else if (before !== null) {
      const comment = before as CommentRecord
      putComment(transaction, annotationIn(tie), comment, anonymousComment(comment, userId))
    }
    transaction.delete(tie)
  }
  return ties.length
}

function anonymousAnnotation(annotation: AnnotationRecord, userId: string): AnnotationRecord {
  const { createdBy, assignedTo, location, suggestion } = annotation
  const known = [createdBy, assignedTo].find((user) => user?.userId === userId) ?? { userId }
  return {
    ...annotation,
    createdBy: withoutUser(createdBy, { userId }),
    assignedTo: withoutUser(assignedTo, { userId }),
    // Its id is what the annotation is listed by.
    location: location === null ? null : { ...withoutUser(location, known), id: location.id },
    suggestion:
      suggestion === null ? null : { ...suggestion, content: withoutUser(suggestion.content, known) },
  }
}

const anonymousComment = (comment: CommentRecord, userId: string): CommentRecord => ({
  ...comment,
  from: withoutUser(comment.from, { userId }),
  reactions: comment.reactions.map((reaction) => ({
    ...reaction,
    user: withoutUser(reaction.user, { userId }),
  })),
})

const annotationIn = (tie: Key): string => tie.at(-2) as string
/** '' where the annotation itself names the user. */
const orderIn = (tie: Key): string => tie.at(-1) as string
const commentKeyOf = (tie: Key): Key => keys.comment(annotationIn(tie), orderIn(tie))
const recordKeyOf = (tie: Key): Key =>
  orderIn(tie) === '' ? keys.annotation(annotationIn(tie)) : commentKeyOf(tie)
