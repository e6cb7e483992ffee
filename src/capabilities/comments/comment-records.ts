import * as s from '../../core/base/schema.ts'
import { emptyValue } from '../../core/directory/store/records.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import type { ActionUser } from '../../core/events/activity.ts'
import { findNamedUsers, namedUserSchema } from '../../core/model/named-users.ts'
import type { Key } from '../../core/store/engine.ts'
import { keyName } from '../../core/store/key-encoding.ts'
import { type AnnotationList, commentOrder, commentKeys as keys } from './comment-keys.ts'

/** A place in the user interface, such as a page or a view. Members that callers add are stored unchanged. */
const locationSchema = s.object({ id: s.string }, { locationName: s.string })
export type AnnotationLocation = s.TypeOf<typeof locationSchema>

/** A place in the content of an editor. It stays correct when the content changes. */
const anchorSchema = s.object(
  {
    editorId: s.string,
    contentKey: s.string,
    /** Yjs relative position of the place or of the start of a range, in base64. */
    position: s.string,
  },
  {
    /** Yjs relative position of the end of a range, in base64. */
    positionEnd: s.string,
  },
)
export type Anchor = s.TypeOf<typeof anchorSchema>

const suggestionSchema = s.object({
  status: s.choice(['pending', 'accepted', 'rejected']),
  /** The suggested content, which can be any JSON value; null if the caller gave none. */
  content: s.unknown,
})
export type AnnotationSuggestion = s.TypeOf<typeof suggestionSchema>

export const annotationRecordType = {
  name: 'annotation',
  schema: s.object({
    /** Id of the annotation. It is unique in the organization. */
    annotationId: s.string,
    documentId: s.string,
    /** Text that determines the position of the annotation in its lists; see `annotationOrder`. */
    order: s.string,
    location: s.orNull(locationSchema),
    anchor: s.orNull(anchorSchema),
    status: s.choice(['open', 'resolved']),
    priority: s.orNull(s.string),
    assignedTo: s.orNull(namedUserSchema),
    suggestion: s.orNull(suggestionSchema),
    createdBy: namedUserSchema,
    /**
     * Time of the creation in epoch milliseconds. `lastUpdated` is the time of the last change. Both times
     * refer to the annotation itself, not to its comments.
     */
    createdAt: s.number,
    lastUpdated: s.number,
  }),
}
export type AnnotationRecord = s.TypeOf<typeof annotationRecordType.schema>

/**
 * State of a thread. This record changes with every comment that is added or deleted. A comment can therefore
 * not be added to a thread that is being deleted, because the transactions conflict.
 */
export const threadRecordType = {
  name: 'thread',
  schema: s.object({
    /** Number of comments that exist. */
    count: s.number,
    /** Number of comments that were ever added, including deleted ones. The next comment gets this number. */
    next: s.number,
  }),
}
export type ThreadRecord = s.TypeOf<typeof threadRecordType.schema>

const reactionSchema = s.object({
  /** Id of the reaction. It is unique among the reactions to the comment. */
  reactionId: s.string,
  /** An emoji or its name. */
  reaction: s.string,
  user: namedUserSchema,
  /** Time of the reaction in epoch milliseconds. */
  createdAt: s.number,
})
export type Reaction = s.TypeOf<typeof reactionSchema>

export const commentRecordType = {
  name: 'comment',
  schema: s.object({
    /** Id of the comment. It is unique among the comments of the annotation. */
    commentId: s.string,
    /** Text that determines the position of the comment in its thread; see `commentOrder`. */
    order: s.string,
    from: namedUserSchema,
    text: s.string,
    /** Reactions to the comment, the oldest first. */
    reactions: s.array(reactionSchema),
    /** Time of the creation in epoch milliseconds. `lastUpdated` is the time of the last change. */
    createdAt: s.number,
    lastUpdated: s.number,
  }),
}
export type CommentRecord = s.TypeOf<typeof commentRecordType.schema>

/** Record with the position of a comment in its thread. It is stored under the id of the comment. */
export const commentPositionType = {
  name: 'position of a comment',
  schema: s.object(
    { order: s.string },
    {
      /**
       * Id of the activity that quotes the text of the comment. Absent if no activity does, and in records of
       * older versions.
       */
      quotedBy: s.string,
    },
  ),
}
export type CommentPosition = s.TypeOf<typeof commentPositionType.schema>

/** Returns a record without its order, which is internal and not sent to clients. */
export function withoutOrder<R extends { readonly order: string }>(record: R): Omit<R, 'order'> {
  const { order: _, ...members } = record
  return members
}

/**
 * Writes an annotation and its index entries.
 * @param before the previous record; null if the annotation is new
 */
export function putAnnotation(
  transaction: Transaction,
  before: AnnotationRecord | null,
  after: AnnotationRecord,
): void {
  transaction.put(keys.annotation(after.annotationId), after)
  moveEntries(transaction, before === null ? [] : annotationEntries(before), annotationEntries(after))
}

/**
 * Removes the record, the thread and the index entries of an annotation. The comments must be deleted before.
 */
export function deleteAnnotationRecord(transaction: Transaction, annotation: AnnotationRecord): void {
  transaction.delete(keys.annotation(annotation.annotationId))
  transaction.delete(keys.thread(annotation.annotationId))
  moveEntries(transaction, annotationEntries(annotation), [])
}

/** Writes a comment and its index entries. @param before the previous record; null if the comment is new */
export function putComment(
  transaction: Transaction,
  annotationId: string,
  before: CommentRecord | null,
  after: CommentRecord,
): void {
  const { order, commentId } = after
  transaction.put(keys.comment(annotationId, order), after)
  if (before === null)
    transaction.put(keys.commentPlace(annotationId, commentId), { order } satisfies CommentPosition)
  const entries = before === null ? [] : commentEntries(annotationId, before)
  moveEntries(transaction, entries, commentEntries(annotationId, after))
}

export function deleteCommentRecord(
  transaction: Transaction,
  annotationId: string,
  comment: CommentRecord,
): void {
  transaction.delete(keys.comment(annotationId, comment.order))
  transaction.delete(keys.commentPlace(annotationId, comment.commentId))
  moveEntries(transaction, commentEntries(annotationId, comment), [])
}

/** Returns the lists that contain an annotation. The shorter list is first. */
function listsOf({ documentId, location }: AnnotationRecord): readonly AnnotationList[] {
  const whole = { kind: 'document', documentId } as const
  return location === null ? [whole] : [{ kind: 'location', documentId, locationId: location.id }, whole]
}

/**
 * Returns the ids of the users that the location and the suggested content mention. Callers can add any
 * members to both.
 */
export const usersNamedInContent = ({
  location,
  suggestion,
}: Pick<AnnotationRecord, 'location' | 'suggestion'>): ReadonlySet<string> =>
  findNamedUsers([location, suggestion?.content])

/** Returns the keys of the index entries of an annotation. */
export function annotationEntries(annotation: AnnotationRecord): readonly Key[] {
  const { annotationId, createdBy, assignedTo } = annotation
  const userIds = [...findNamedUsers([createdBy, assignedTo]), ...usersNamedInContent(annotation)]
  return [
    ...listsOf(annotation).map((list) => keys.inList(list, annotation)),
    ...userIds.map((userId) => keys.tie(userId, annotationId, null)),
  ]
}

/** Returns the keys of the index entries of a comment. */
export const commentEntries = (
  annotationId: string,
  { order, from, reactions }: CommentRecord,
): readonly Key[] =>
  [from, ...reactions.map(({ user }) => user)].map(({ userId }) => keys.tie(userId, annotationId, order))

function moveEntries(transaction: Transaction, before: readonly Key[], after: readonly Key[]): void {
  const [old, next] = [before, after].map((entries) => new Set(entries.map(keyName)))
  for (const key of before) if (next?.has(keyName(key)) === false) transaction.delete(key)
  for (const key of after) if (old?.has(keyName(key)) === false) transaction.put(key, emptyValue)
}

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
