import type { OrganizationScope } from '../directory/organizations/organization-keys.ts'
import type { OrganizationStore } from '../directory/organizations/organization-store.ts'
import { mapInSlices } from '../directory/store/batch.ts'
import type { Transaction } from '../directory/store/transaction.ts'
import type { Key, KvEntry } from '../engine/engine.ts'
import { lastSegment } from '../engine/key-encoding.ts'
import { type AnnotationList, commentKeys as keys } from './comment-keys.ts'
import { removeQuotes } from './comment-quotes.ts'
import {
  type AnnotationRecord,
  type CommentRecord,
  deleteAnnotationRecord,
  deleteCommentRecord,
  type ThreadRecord,
} from './comment-records.ts'
import { forgetJudged } from './judged-comments.ts'

/** Maximum number of comments that one commit removes. */
const commentsAtOnce = 200
/** Maximum number of annotations that are removed in parallel. The limit bounds the work of one tick. */
const annotationsAtOnce = 8
/** Maximum number of list entries in one read. */
const entriesAtOnce = 100

/** The part of an annotation that one commit has removed. */
export interface RemovedSlice {
  readonly comments: readonly CommentRecord[]
  /** True if nothing of the annotation remains. */
  readonly isGone: boolean
}

/** Removes data that must be deleted before an annotation. Returns `more` if another commit is necessary. */
export type RemoveFirst = (transaction: Transaction, annotationId: string) => Promise<'done' | 'more'>

/** Removal of other data that is deleted with comments. */
export interface CommentTies {
  readonly forget: (judgmentIds: readonly string[]) => Promise<unknown>
  readonly beforehand?: RemoveFirst
}

export const nothingFirst: RemoveFirst = async () => 'done'

/**
 * Removes comments of an annotation. If one commit can remove all remaining comments, also removes the
 * annotation itself. Reads everything that it removes by key: the thread, then its comments, all before
 * `beforehand` runs. So the transaction is repeated if any of these records changes meanwhile.
 * @param annotation must have been read in the same transaction
 */
export async function removeSlice(
  transaction: Transaction,
  annotation: AnnotationRecord,
  { forget, beforehand = nothingFirst }: CommentTies,
): Promise<RemovedSlice> {
  const { annotationId } = annotation
  const thread = await transaction.get<ThreadRecord>(keys.thread(annotationId))
  const entries = await transaction.scan({ prefix: keys.comments(annotationId), limit: commentsAtOnce })
  const found = await transaction.getAll<CommentRecord>(entries.map(({ key }) => key))
  if ((await beforehand(transaction, annotationId)) === 'more') return { comments: [], isGone: false }
  const comments = found.filter((comment) => comment !== null)
  await forgetJudged(transaction, annotationId, comments, forget)
  await removeQuotes(transaction, annotationId, comments)
  for (const comment of comments) deleteCommentRecord(transaction, annotationId, comment)
  const isGone = entries.length < commentsAtOnce
  if (isGone) deleteAnnotationRecord(transaction, annotation)
  else if (thread !== null)
    transaction.put(keys.thread(annotationId), { ...thread, count: thread.count - comments.length })
  return { comments, isGone }
}

/**
 * Removes all annotations of a list, each in as many commits as necessary.
 * @param goOn called between commits
 */
export async function removeListed(
  store: OrganizationStore,
  scope: OrganizationScope,
  list: AnnotationList,
  goOn: () => Promise<void>,
  ties: CommentTies,
): Promise<void> {
  const prefix = keys.list(list)
  for (;;) {
    const entries = await store.read(scope).scan({ prefix, limit: entriesAtOnce })
    if (entries.length === 0) return
    const removeOne = async ({ key }: KvEntry): Promise<void> => {
      for (let isGone = false; !isGone; await goOn())
        isGone = await store.carryOut(scope, (transaction) => cut(transaction, key, ties))
    }
    await mapInSlices(entries, removeOne, annotationsAtOnce)
  }
}

/**
 * Removes a slice of an annotation. @param entry key of the annotation in a list
 * @returns true if the list has nothing of the annotation any more
 */
async function cut(transaction: Transaction, entry: Key, ties: CommentTies): Promise<boolean> {
  const annotationId = lastSegment(entry)
  const [listed = null, found = null] = await transaction.getAll([entry, keys.annotation(annotationId)])
  // The annotation was removed from the list after the read. A present annotation with the same id is a
  // different one.
  if (listed === null) return true
  const annotation = found as AnnotationRecord | null
  if (annotation !== null) return (await removeSlice(transaction, annotation, ties)).isGone
  // The entry has no annotation: if it stayed, it would be found again forever.
  transaction.delete(entry)
  return true
}
