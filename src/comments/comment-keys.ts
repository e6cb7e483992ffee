import type { Key } from '../engine/engine.ts'

/** Identifies the list of the annotations of a document, or of a location in a document. */
export type AnnotationList =
  | { readonly kind: 'document'; readonly documentId: string }
  | { readonly kind: 'location'; readonly documentId: string; readonly locationId: string }

/** Position of an annotation in its lists. */
export interface AnnotationPosition {
  /** Text that sorts by the time at which annotations were added. */
  readonly order: string
  readonly annotationId: string
}

/**
 * Numbers of digits. Times in the year 9999 have 15 digits in milliseconds, and a call adds fewer than
 * 100,000 annotations.
 */
const timeDigits = 15
const placeDigits = 5
const orderLength = timeDigits + placeDigits

/**
 * Returns the order of a new annotation. @param at epoch milliseconds
 * @param place position among the annotations of one call
 */
export const annotationOrder = (at: number, place: number): string =>
  String(at).padStart(timeDigits, '0') + String(place).padStart(placeDigits, '0')

/**
 * Returns the order of a new comment. Safe integers have at most 16 digits.
 * @param number number of the comment in its thread
 */
export const commentOrder = (number: number): string => String(number).padStart(16, '0')

/**
 * Keys of annotations in an organization's partition. Lists and ties (links from users to what mentions them)
 * are indexes without content.
 */
export const commentKeys = {
  annotation: (annotationId: string): Key => ['annotations', annotationId],
  /** The record changes with every comment that is added or deleted. */
  thread: (annotationId: string): Key => ['annotationThreads', annotationId],
  list: (list: AnnotationList): Key =>
    list.kind === 'document'
      ? ['annotationsIn', list.kind, list.documentId]
      : ['annotationsIn', list.kind, list.documentId, list.locationId],
  inList: (list: AnnotationList, { order, annotationId }: AnnotationPosition): Key => [
    ...commentKeys.list(list),
    order,
    annotationId,
  ],
  /** Tombstones of annotations that were deleted from locations of a document. */
  goneIn: (documentId: string): Key => ['goneAnnotations', documentId],
  goneFrom: (documentId: string, locationId: string): Key => ['goneAnnotations', documentId, locationId],
  /** The comments of an annotation, oldest first. */
  comments: (annotationId: string): Key => ['annotationComments', annotationId],
  comment: (annotationId: string, order: string): Key => ['annotationComments', annotationId, order],
  /** Position of a comment by its id. */
  commentPlace: (annotationId: string, commentId: string): Key => [
    'annotationCommentPlaces',
    annotationId,
    commentId,
  ],
  /** The judgments that quote comments of an annotation. Their keys contain the positions of the comments. */
  judged: (annotationId: string): Key => ['judgedComments', annotationId],
  /** Index: the annotations and comments that mention a user. */
  tiesOf: (userId: string): Key => ['annotationTies', userId],
  tiesTo: (userId: string, annotationId: string): Key => ['annotationTies', userId, annotationId],
  /**
   * @param order order of the comment that mentions the user; null: the annotation itself mentions the user
   */
  tie: (userId: string, annotationId: string, order: string | null): Key => [
    'annotationTies',
    userId,
    annotationId,
    order ?? '',
  ],
}

/** Encodes a position as text, for page tokens. */
export const encodeAnnotationPosition = ({ order, annotationId }: AnnotationPosition): string =>
  order + annotationId

/** Decodes a position from the text that `encodeAnnotationPosition` returns. */
export const decodeAnnotationPosition = (text: string): AnnotationPosition => ({
  order: text.slice(0, orderLength),
  annotationId: text.slice(orderLength),
})
