import { ApiError } from '../../core/base/errors.ts'
import { requireResource } from '../../core/directory/documents/resource-lookup.ts'
import type { OrganizationScope } from '../../core/directory/organizations/organization-keys.ts'
import type { DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import { addressKey, type DocumentAddress } from '../../core/model/address.ts'
import { keyName, lastSegment } from '../../core/store/key-encoding.ts'
import { entryPages } from '../../core/store/pages.ts'
import { readRecord } from '../../core/store/stored-record.ts'
import { SeededIds } from '../../rest/seeded-ids.ts'
import { outboundOnlyEvent } from './comment-events.ts'
import { commentKeys as keys } from './comment-keys.ts'
import {
  type AnnotationRecord,
  annotationRecordType,
  commentRecordType,
  putAnnotation,
  putComment,
  type ThreadRecord,
} from './comment-records.ts'
import type { CommentDependencies } from './judgment-recorder.ts'
import { commentLimits } from './limits.ts'

/** Number of annotations in one read. */
const readAtOnce = 100

/**
 * Returns the annotations of a document, the oldest first.
 * @throws ApiError FAILED_PRECONDITION if there are more than `commentLimits.copied`
 */
export async function annotationsToCopy(
  reader: DirectoryReader,
  documentId: string,
): Promise<readonly AnnotationRecord[]> {
  const found: AnnotationRecord[] = []
  const range = { prefix: keys.list({ kind: 'document', documentId }), limit: readAtOnce }
  for await (const page of entryPages((part) => reader.scan(part), range)) {
    const ids = page.map(({ key }) => lastSegment(key))
    const records = await reader.getAll(ids.map(keys.annotation), annotationRecordType)
    found.push(...records.filter((record) => record !== null))
    if (found.length > commentLimits.copied)
      throw new ApiError(
        'comment/too-many',
        `the document has more than ${commentLimits.copied} comment threads, which is the maximum of a copy; copy without comments`,
      )
  }
  return found
}

/**
 * Copies threads to a document with their authors, times and reactions. Records no activities, because the comments are
 * old. Each thread is one transaction. The id of a copy follows from its original and the editor, so that the copies of an
 * interrupted call get their new anchors instead of second copies.
 * @param to the editor of the anchors; its id is '' for threads without an anchor
 * @param annotations the originals, with the anchors of the copies
 */
export async function copyThreads(
  { store, events }: Pick<CommentDependencies, 'store' | 'events'>,
  from: OrganizationScope,
  to: DocumentAddress,
  annotations: readonly AnnotationRecord[],
): Promise<void> {
  for (const original of annotations) {
    const seed = keyName([...addressKey(to), from.organizationId, original.annotationId])
    const annotationId = new SeededIds(seed).make()
    const annotation = { ...original, annotationId, documentId: to.documentId }
    const prefix = keys.comments(original.annotationId)
    const entries = await store.read(from).scan({ prefix, limit: commentLimits.comments })
    const comments = entries.map((entry) => readRecord(commentRecordType, entry))
    const next = Number(comments.at(-1)?.order ?? -1) + 1
    const thread = { count: comments.length, next } satisfies ThreadRecord
    await store.carryOut(to, async (transaction) => {
      await requireResource(transaction, { type: 'document', id: to.documentId })
      const known = await transaction.get(keys.annotation(annotationId), annotationRecordType)
      if (known !== null) return putAnnotation(transaction, known, { ...known, anchor: annotation.anchor })
      putAnnotation(transaction, null, annotation)
      for (const comment of comments) putComment(transaction, annotationId, null, comment)
      transaction.put(keys.thread(annotationId), thread)
      const added = { action: 'comment_annotation.add', actionUser: original.createdBy, annotation } as const
      events.recordNew(transaction, to, [outboundOnlyEvent(added)])
    })
  }
}
