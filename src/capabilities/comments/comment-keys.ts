import type { Key } from '../../core/store/engine.ts'

/**
 * Identifies a list of annotations: the annotations of a document, or the annotations of a location in a
 * document.
 */
export type AnnotationList =
  | { readonly kind: 'document'; readonly documentId: string }
  | { readonly kind: 'location'; readonly documentId: string; readonly locationId: string }

/** Position of an annotation in the lists that contain it. */
export interface AnnotationPosition {
  /** Text that represents the time at which the annotation was added. It sorts by this time. */
  readonly order: string
  readonly annotationId: string
}

/**
 * Numbers of digits in an order. Times in milliseconds have 15 digits until the year 9999. One call adds
 * fewer than 100,000 annotations.
 */
const timeDigits = 15
const placeDigits = 5
const orderLength = timeDigits + placeDigits

/**
 * Returns the order of a new annotation.
 * @param at time at which the annotation is added, in epoch milliseconds
 * @param place position of the annotation among the annotations of one call
 */
export const annotationOrder = (at: number, place: number): string =>
  String(at).padStart(timeDigits, '0') + String(place).padStart(placeDigits, '0')

/**
 * Returns the order of a new comment. It has 16 digits, because safe integers have at most 16 digits.
 * @param number number of the comment in its thread
 */
export const commentOrder = (number: number): string => String(number).padStart(16, '0')

/**
 * Keys of annotations and their indexes in the partition of an organization. Lists and ties are indexes
 * without content. A tie leads from a user to an annotation or comment that mentions the user.
 */
export const commentKeys = {
  annotation: (annotationId: string): Key => ['annotations', annotationId],
  /** Thread of an annotation. This record changes with every comment that is added or deleted. */
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
  /** The comments of an annotation, oldest first. */
  comments: (annotationId: string): Key => ['annotationComments', annotationId],
  comment: (annotationId: string, order: string): Key => ['annotationComments', annotationId, order],
  /** Record with the position of a comment, under the id of the comment. */
  commentPlace: (annotationId: string, commentId: string): Key => [
    'annotationCommentPlaces',
    annotationId,
    commentId,
  ],
  /**
   * Index: the judgments that quote comments of an annotation. Each key contains the position of the comment.
   */
  judged: (annotationId: string): Key => ['judgedComments', annotationId],
  /** Index: the annotations and comments that mention a user. */
  tiesOf: (userId: string): Key => ['annotationTies', userId],
  tiesTo: (userId: string, annotationId: string): Key => ['annotationTies', userId, annotationId],
  /**
   * Key of the tie from a user to an annotation or comment.
   * @param order order of the comment that mentions the user; null if the annotation itself mentions the user
   */
  tie: (userId: string, annotationId: string, order: string | null): Key => [
    'annotationTies',
    userId,
    annotationId,
    order ?? '',
  ],
}

/** Encodes a position as text for page tokens. `decodeAnnotationPosition` is the inverse. */
export const encodeAnnotationPosition = ({ order, annotationId }: AnnotationPosition): string =>
  order + annotationId

/** Decodes the text that `encodeAnnotationPosition` returns. */
export const decodeAnnotationPosition = (text: string): AnnotationPosition => ({
  order: text.slice(0, orderLength),
  annotationId: text.slice(orderLength),
})
