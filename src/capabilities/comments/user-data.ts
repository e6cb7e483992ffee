import type { DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import type { ShownEntry, UserRanges } from '../../core/directory/user-data/user-data-source.ts'
import { withoutUser } from '../../core/model/named-users.ts'
import type { Key } from '../../core/store/engine.ts'
import { lastSegment } from '../../core/store/key-encoding.ts'
import { commentKeys, commentKeys as keys } from './comment-keys.ts'
import {
  type AnnotationRecord,
  annotationRecordType,
  type CommentRecord,
  commentRecordType,
  putAnnotation,
  putComment,
  withoutOrder,
} from './comment-records.ts'

/**
 * Maximum number of records that one commit changes. One comment can have up to 100 reactions, so the limit
 * is low.
 */
const sliceMax = 50

/**
 * Annotations and comments that mention a user. An erasure keeps them, and replaces the user with the deleted
 * user.
 */
export const mentions: UserRanges = {
  name: 'comments',
  kind: 'comment',
  ranges: (userId) => [commentKeys.tiesOf(userId)],
  async show(reader, entries, userId) {
    const traces = await findMentions(
      reader,
      entries.map(({ key }) => key),
    )
    return traces.map((trace) => (trace === null ? null : shownOf(trace, userId)))
  },
  erase: (transaction, userId) => anonymizeComments(transaction, userId, sliceMax),
}

/**
 * Returns the part of an annotation or comment that is data of this user. Reactions of other users are left
 * out.
 */
function shownOf(trace: UserMention, userId: string): ShownEntry {
  const { annotationId, documentId } = trace.annotation
  if (trace.kind === 'annotation') return { documentId, data: withoutOrder(trace.annotation) }
  const reactions = trace.comment.reactions.filter(({ user }) => user.userId === userId)
  return { documentId, data: { annotationId, ...withoutOrder(trace.comment), reactions } }
}

/** A place in annotations that mentions a user. */
type UserMention =
  /** The user created the annotation or is assigned to it. */
  | { readonly kind: 'annotation'; readonly annotation: AnnotationRecord }
  /** The user wrote the comment or reacted to it. */
  | { readonly kind: 'comment'; readonly annotation: AnnotationRecord; readonly comment: CommentRecord }

/**
 * Returns the mentions to which ties lead, in the order of the ties. The result contains null for a record
 * that was deleted.
 */
export async function findMentions(
  reader: DirectoryReader,
  ties: readonly Key[],
): Promise<readonly (UserMention | null)[]> {
  const annotations = await reader.getAll(
    ties.map((tie) => keys.annotation(annotationIn(tie))),
    annotationRecordType,
  )
  const comments = await reader.getAll(ties.map(commentKeyOf), commentRecordType)
  return ties.map((tie, index) => {
    const [annotation, comment] = [annotations[index] ?? null, comments[index] ?? null]
    if (annotation === null) return null
    if (orderIn(tie) === '') return { kind: 'annotation', annotation }
    return comment === null ? null : { kind: 'comment', annotation, comment }
  })
}

/**
 * Replaces a user with the deleted user in up to `limit` annotations and comments that mention the user. The
 * texts of comments stay unchanged. Returns the number of ties that were found. Callers repeat the call until
 * it returns 0.
 */
export async function anonymizeComments(
  transaction: Transaction,
  userId: string,
  limit: number,
): Promise<number> {
  const entries = await transaction.scan({ prefix: keys.tiesOf(userId), limit })
  const ties = entries.map(({ key }) => key)
  await transaction.getAll(ties.map(recordKeyOf))
  for (const tie of ties) {
    await anonymizeMention(transaction, tie, userId)
    transaction.delete(tie)
  }
  return ties.length
}

async function anonymizeMention(transaction: Transaction, tie: Key, userId: string): Promise<void> {
  if (orderIn(tie) === '') {
    const annotation = await transaction.get(recordKeyOf(tie), annotationRecordType)
    if (annotation !== null) putAnnotation(transaction, annotation, anonymousAnnotation(annotation, userId))
  } else {
    const comment = await transaction.get(recordKeyOf(tie), commentRecordType)
    if (comment !== null)
      putComment(transaction, annotationIn(tie), comment, anonymousComment(comment, userId))
  }
}

function anonymousAnnotation(annotation: AnnotationRecord, userId: string): AnnotationRecord {
  const { createdBy, assignedTo, location, suggestion } = annotation
  const known = [createdBy, assignedTo].find((user) => user?.userId === userId) ?? { userId }
  return {
    ...annotation,
    createdBy: withoutUser(createdBy, { userId }),
    assignedTo: withoutUser(assignedTo, { userId }),
    // The id of the location stays unchanged, because it is part of the key under which the annotation is
    // listed.
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

const annotationIn = (tie: Key): string => tie.at(-2) ?? ''
/** Returns the order of the comment to which a tie leads; '' if the tie leads to the annotation itself. */
const orderIn = (tie: Key): string => lastSegment(tie)
const commentKeyOf = (tie: Key): Key => keys.comment(annotationIn(tie), orderIn(tie))
const recordKeyOf = (tie: Key): Key =>
  orderIn(tie) === '' ? keys.annotation(annotationIn(tie)) : commentKeyOf(tie)
