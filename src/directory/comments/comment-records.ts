import type { Key } from '../../engine/engine.ts'
import { keyName } from '../../engine/key-encoding.ts'
import type { ActionUser } from '../../events/activity.ts'
import { findNamedUsers } from '../../model/named-users.ts'
import { emptyValue } from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'
import { type AnnotationList, commentKeys as keys } from './comment-keys.ts'

/** A place in what is shown, such as a page or a view; other members than these are kept as they were given. */
export interface AnnotationLocation {
  readonly id: string
  readonly locationName?: string
}

/** A place in the content of an editor that stays right while the content changes. */
export interface Anchor {
  readonly editorId: string
  readonly contentKey: string
  /** Yjs relative position, base64. */
  readonly position: string
  /** The same, of the end of a range. */
  readonly positionEnd?: string
}

export type SuggestionStatus = 'pending' | 'accepted' | 'rejected'

export interface AnnotationSuggestion {
  readonly status: SuggestionStatus
  /** Any JSON; null when none was given. */
  readonly content: unknown
}

export interface AnnotationRecord {
  /** Unique in the organization. */
  readonly annotationId: string
  readonly documentId: string
  /** Where it stands in its lists. */
  readonly order: string
  readonly location: AnnotationLocation | null
  readonly anchor: Anchor | null
  readonly status: 'open' | 'resolved'
  readonly priority: string | null
  readonly assignedTo: ActionUser | null
  readonly suggestion: AnnotationSuggestion | null
  readonly createdBy: ActionUser
  /** Epoch milliseconds, as is `lastUpdated`: of the annotation itself, not of its comments. */
  readonly createdAt: number
  readonly lastUpdated: number
}

/** Changes with every comment that is added or deleted, so that nobody adds one to what is being deleted. */
export interface ThreadRecord {
  /** Comments there are. */
  readonly count: number
  /** Comments there ever were: the number of the next one. */
  readonly next: number
}

export interface Reaction {
  /** Unique in its comment. */
  readonly reactionId: string
  /** Such as an emoji, or its name. */
  readonly reaction: string
  readonly user: ActionUser
  /** Epoch milliseconds. */
  readonly createdAt: number
}

export interface CommentRecord {
  /** Unique in its annotation. */
  readonly commentId: string
  /** Where it stands in its thread. */
  readonly order: string
  readonly from: ActionUser
  readonly text: string
  /** The oldest first. */
  readonly reactions: readonly Reaction[]
  /** Epoch milliseconds, as is `lastUpdated`. */
  readonly createdAt: number
  readonly lastUpdated: number
}

/** Where a comment stands, by its id. */
export interface CommentPosition {
  readonly order: string
  /** The activity that quotes its words. Absent in records of older versions. */
  readonly quotedBy?: string
}

/** A record as others see it: where it stands is ours. */
export function withoutOrder<R extends { readonly order: string }>(record: R): Omit<R, 'order'> {
  const { order: _, ...members } = record
  return members
}

/** Writes an annotation with its index entries. @param before as it was; null: it is new */
export function putAnnotation(
  transaction: Transaction,
  before: AnnotationRecord | null,
  after: AnnotationRecord,
): void {
  transaction.put(keys.annotation(after.annotationId), after)
  moveEntries(transaction, before === null ? [] : annotationEntries(before), annotationEntries(after))
}

/** Removes an annotation, whose comments are gone. */
export function deleteAnnotationRecord(transaction: Transaction, annotation: AnnotationRecord): void {
  transaction.delete(keys.annotation(annotation.annotationId))
  transaction.delete(keys.thread(annotation.annotationId))
  moveEntries(transaction, annotationEntries(annotation), [])
}

/** Writes a comment with its index entries. @param before as it was; null: it is new */
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

/** The shortest list first. */
export function listsOf({ documentId, location }: AnnotationRecord): readonly AnnotationList[] {
  const whole = { kind: 'document', documentId } as const
  return location === null ? [whole] : [{ kind: 'location', documentId, locationId: location.id }, whole]
}

/** Users that are named in what callers may give any members. */
export const usersNamedInContent = ({
  location,
  suggestion,
}: Pick<AnnotationRecord, 'location' | 'suggestion'>): ReadonlySet<string> =>
  findNamedUsers([location, suggestion?.content])

/** Where else an annotation is kept. */
export function annotationEntries(annotation: AnnotationRecord): readonly Key[] {
  const { annotationId, createdBy, assignedTo } = annotation
  const userIds = [...findNamedUsers([createdBy, assignedTo]), ...usersNamedInContent(annotation)]
  return [
    ...listsOf(annotation).map((list) => keys.inList(list, annotation)),
    ...userIds.map((userId) => keys.tie(userId, annotationId, null)),
  ]
}

/** Where else a comment is kept. */
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
