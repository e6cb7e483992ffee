import { commentKeys as keys } from '../directory/comment-keys.ts'
import type {
  AnnotationRecord,
  CommentPlace,
  CommentRecord,
  ThreadRecord,
} from '../directory/comment-records.ts'
import { ItemRefused } from '../directory/items.ts'
import { checkResource } from '../directory/places.ts'
import type { Reader } from '../directory/reader.ts'
import type { Transaction } from '../directory/transaction.ts'
import { ApiError } from '../errors.ts'

/** Names an annotation, and the document that it must be of. */
export interface AnnotationAddress {
  readonly documentId: string
  readonly annotationId: string
}

/** @throws ItemRefused unless the document has it */
export async function annotationOf(
  reader: Reader,
  { documentId, annotationId }: AnnotationAddress,
): Promise<AnnotationRecord> {
  const record = await reader.get<AnnotationRecord>(keys.annotation(annotationId))
  if (record?.documentId !== documentId) throw new ItemRefused('there is no such annotation of the document')
  return record
}

/** @throws ApiError NOT_FOUND unless the document exists and has it */
export async function requireAnnotation(
  reader: Reader,
  address: AnnotationAddress,
): Promise<AnnotationRecord> {
  await checkResource(reader, { type: 'document', id: address.documentId })
  const record = await reader.get<AnnotationRecord>(keys.annotation(address.annotationId))
  if (record?.documentId !== address.documentId)
    throw new ApiError('NOT_FOUND', 'the annotation does not exist')
  return record
}

export async function threadOf(reader: Reader, annotationId: string): Promise<ThreadRecord> {
  const thread = await reader.get<ThreadRecord>(keys.thread(annotationId))
  return thread ?? { count: 0, next: 0 }
}

/** Null when there is none. Read beforehand with `readComments`, it costs nothing. */
export async function findComment(
  transaction: Transaction,
  annotationId: string,
  commentId: string,
): Promise<CommentRecord | null> {
  const place = await transaction.get<CommentPlace>(keys.commentPlace(annotationId, commentId))
  return place === null ? null : transaction.get<CommentRecord>(keys.comment(annotationId, place.order))
}

/** Those of the named comments that there are, in the order of the ids. */
export async function readComments(
  reader: Reader,
  annotationId: string,
  commentIds: readonly string[],
): Promise<readonly CommentRecord[]> {
  const wanted = commentIds.map((commentId) => keys.commentPlace(annotationId, commentId))
  const places = (await reader.getAll<CommentPlace>(wanted)).filter((place) => place !== null)
  const comments = await reader.getAll<CommentRecord>(
    places.map(({ order }) => keys.comment(annotationId, order)),
  )
  return comments.filter((comment) => comment !== null)
}
