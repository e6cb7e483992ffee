import { ApiError } from '../../core/base/errors.ts'
import { requireResource } from '../../core/directory/documents/resource-lookup.ts'
import { ItemRejectedError } from '../../core/directory/store/batch.ts'
import type { DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import type { ActionUser } from '../../core/events/activity.ts'
import { entryPages } from '../../core/store/pages.ts'
import { readRecord } from '../../core/store/stored-record.ts'
import { commentKeys as keys } from './comment-keys.ts'
import {
  type AnnotationRecord,
  annotationRecordType,
  type CommentRecord,
  commentPositionType,
  commentRecordType,
  type ThreadRecord,
  threadRecordType,
} from './comment-records.ts'

/** The id of an annotation, and the id of the document to which it must belong. */
export interface AnnotationAddress {
  readonly documentId: string
  readonly annotationId: string
}

/**
 * Returns the annotation with an address.
 * @throws ItemRejectedError if the document has no such annotation
 */
export async function annotationOf(
  reader: DirectoryReader,
  { documentId, annotationId }: AnnotationAddress,
): Promise<AnnotationRecord> {
  const record = await reader.get(keys.annotation(annotationId), annotationRecordType)
  if (record?.documentId !== documentId)
    throw new ItemRejectedError('comment/annotation-not-found', 'there is no such annotation of the document')
  return record
}

/**
 * Returns the annotation with an address.
 * @throws ApiError NOT_FOUND if the document does not exist, or has no such annotation
 */
export async function requireAnnotation(
  reader: DirectoryReader,
  address: AnnotationAddress,
): Promise<AnnotationRecord> {
  await requireResource(reader, { type: 'document', id: address.documentId })
  const record = await reader.get(keys.annotation(address.annotationId), annotationRecordType)
  if (record?.documentId !== address.documentId)
    throw new ApiError('comment/annotation-not-found', 'the annotation does not exist; check annotationId')
  return record
}

export async function threadOf(reader: DirectoryReader, annotationId: string): Promise<ThreadRecord> {
  const thread = await reader.get(keys.thread(annotationId), threadRecordType)
  return thread ?? { count: 0, next: 0 }
}

/**
 * Returns a comment; null if the comment does not exist. If the transaction has read the comment before, for
 * example through `readComments`, the store is not read again.
 */
export async function findComment(
  transaction: Transaction,
  annotationId: string,
  commentId: string,
): Promise<CommentRecord | null> {
  const place = await transaction.get(keys.commentPlace(annotationId, commentId), commentPositionType)
  return place === null ? null : transaction.get(keys.comment(annotationId, place.order), commentRecordType)
}

/** Returns the comments that exist and have one of the ids `commentIds`, in the order of the ids. */
export async function readComments(
  reader: DirectoryReader,
  annotationId: string,
  commentIds: readonly string[],
): Promise<readonly CommentRecord[]> {
  const wanted = commentIds.map((commentId) => keys.commentPlace(annotationId, commentId))
  const places = (await reader.getAll(wanted, commentPositionType)).filter((place) => place !== null)
  const comments = await reader.getAll(
    places.map(({ order }) => keys.comment(annotationId, order)),
    commentRecordType,
  )
  return comments.filter((comment) => comment !== null)
}

/**
 * Maximum number of comments that are read, and of their bytes. Reading starts with the first comment of the thread.
 */
const commentsMax = 1_000
const commentBytesMax = 1_048_576
/** Maximum number of comments in one read. */
const commentsAtOnce = 20

/**
 * Returns the authors of a thread without duplicates, in the order of their first comments. Returns an empty
 * list if the thread was deleted.
 */
export async function participantsOf(
  reader: Pick<DirectoryReader, 'scan'>,
  annotationId: string,
): Promise<readonly ActionUser[]> {
  const range = { prefix: keys.comments(annotationId), limit: commentsAtOnce }
  const users = new Map<string, ActionUser>()
  let [count, bytes] = [0, 0]
  for await (const page of entryPages((part) => reader.scan(part), range)) {
    for (const entry of page) {
      const { from } = readRecord(commentRecordType, entry)
      if (!users.has(from.userId)) users.set(from.userId, from)
      bytes += entry.value.length
    }
    count += page.length
    if (count >= commentsMax || bytes >= commentBytesMax) break
  }
  return [...users.values()]
}
