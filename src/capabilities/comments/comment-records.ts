import * as s from '../../core/base/schema.ts'
import { emptyValue } from '../../core/directory/store/records.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import type { ActionUser } from '../../core/events/activity.ts'
import { findNamedUsers, namedUserSchema } from '../../core/model/named-users.ts'
import type { Key } from '../../core/store/engine.ts'
import { keyName } from '../../core/store/key-encoding.ts'
import type { RecordType } from '../../core/store/stored-record.ts'
import { type AnnotationList, commentKeys as keys, commentOrder } from './comment-keys.ts'

/** A place in the user interface, such as a page or a view. Members that callers add are stored unchanged. */
export interface AnnotationLocation {
  readonly id: string
  readonly locationName?: string
}

/** A place in the content of an editor. It stays correct when the content changes. */
export interface Anchor {
  readonly editorId: string
  readonly contentKey: string
  /** Yjs relative position of the place or of the start of a range, in base64. */
  readonly position: string
  /** Yjs relative position of the end of a range, in base64. */
  readonly positionEnd?: string
}

type SuggestionStatus = 'pending' | 'accepted' | 'rejected'

export interface AnnotationSuggestion {
  readonly status: SuggestionStatus
  /** The suggested content, which can be any JSON value; null if the caller gave none. */
  readonly content: unknown
}

export interface AnnotationRecord {
  /** Id of the annotation. It is unique in the organization. */
  readonly annotationId: string
  readonly documentId: string
  /** Text that determines the position of the annotation in its lists; see `annotationOrder`. */
  readonly order: string
  readonly location: AnnotationLocation | null
  readonly anchor: Anchor | null
  readonly status: 'open' | 'resolved'
  readonly priority: string | null
  readonly assignedTo: ActionUser | null
  readonly suggestion: AnnotationSuggestion | null
  readonly createdBy: ActionUser
  /**
   * Time of the creation in epoch milliseconds. `lastUpdated` is the time of the last change. Both times
   * refer to the annotation itself, not to its comments.
   */
  readonly createdAt: number
  readonly lastUpdated: number
}

export const annotationRecordType: RecordType<AnnotationRecord> = {
  name: 'annotation',
  schema: s.object({
    annotationId: s.string,
    documentId: s.string,
    order: s.string,
    location: s.orNull(s.object({ id: s.string }, { locationName: s.string })),
    anchor: s.orNull(
      s.object({ editorId: s.string, contentKey: s.string, position: s.string }, { positionEnd: s.string }),
    ),
    status: s.choice(['open', 'resolved']),
    priority: s.orNull(s.string),
    assignedTo: s.orNull(namedUserSchema),
    suggestion: s.orNull(
      s.object({ status: s.choice(['pending', 'accepted', 'rejected']), content: s.unknown }),
    ),
    createdBy: namedUserSchema,
    createdAt: s.number,
    lastUpdated: s.number,
  }),
}

/**
 * State of a thread. This record changes with every comment that is added or deleted. A comment can therefore
 * not be added to a thread that is being deleted, because the transactions conflict.
 */
export interface ThreadRecord {
  /** Number of comments that exist. */
  readonly count: number
  /** Number of comments that were ever added, including deleted ones. The next comment gets this number. */
  readonly next: number
}

export const threadRecordType: RecordType<ThreadRecord> = {
  name: 'thread',
  schema: s.object({ count: s.number, next: s.number }),
}

export interface Reaction {
  /** Id of the reaction. It is unique among the reactions to the comment. */
  readonly reactionId: string
  /** An emoji or its name. */
  readonly reaction: string
  readonly user: ActionUser
  /** Time of the reaction in epoch milliseconds. */
  readonly createdAt: number
}

export interface CommentRecord {
  /** Id of the comment. It is unique among the comments of the annotation. */
  readonly commentId: string
  /** Text that determines the position of the comment in its thread; see `commentOrder`. */
  readonly order: string
  readonly from: ActionUser
  readonly text: string
  /** Reactions to the comment, the oldest first. */
  readonly reactions: readonly Reaction[]
  /** Time of the creation in epoch milliseconds. `lastUpdated` is the time of the last change. */
  readonly createdAt: number
  readonly lastUpdated: number
}

export const commentRecordType: RecordType<CommentRecord> = {
  name: 'comment',
  schema: s.object({
    commentId: s.string,
    order: s.string,
    from: namedUserSchema,
    text: s.string,
    reactions: s.array(
      s.object({
        reactionId: s.string,
        reaction: s.string,
        user: namedUserSchema,
        createdAt: s.number,
      }),
    ),
    createdAt: s.number,
    lastUpdated: s.number,
  }),
}

/** Record with the position of a comment in its thread. It is stored under the id of the comment. */
export interface CommentPosition {
  readonly order: string
  /**
   * Id of the activity that quotes the text of the comment. Absent if no activity does, and in records of
   * older versions.
   */
  readonly quotedBy?: string
}

export const commentPositionType: RecordType<CommentPosition> = {
  name: 'position of a comment',
  schema: s.object({ order: s.string }, { quotedBy: s.string }),
}

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
