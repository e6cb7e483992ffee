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

/** Comments that one commit removes. */
const commentsAtOnce = 200
/** Annotations that are removed in parallel. This bounds the work of one tick. */
const annotationsAtOnce = 8
/** List entries of one read. */
const entriesAtOnce = 100

/** The part of an annotation that one commit has removed. */
export interface RemovedSlice {
  readonly comments: readonly CommentRecord[]
  /** True if nothing of the annotation remains. */
  readonly isGone: boolean
}

/** Removes data that must be deleted before an annotation. Returns `more` if one commit does not suffice. */
export type RemoveFirst = (transaction: Transaction, annotationId: string) => Promise<'done' | 'more'>

/** Other data that is deleted with comments. */
export interface CommentTies {
  readonly forget: (judgmentIds: readonly string[]) => Promise<unknown>
  readonly beforehand?: RemoveFirst
}

export const nothingFirst: RemoveFirst = async () => 'done'

/**
 * Removes comments of an annotation, and the annotation itself if the remaining comments fit into one commit.
 * Everything to remove is read by key, the thread before its comments, and all of it before `beforehand`. So
 * the transaction is repeated if any of it changes meanwhile.
 * @param annotation as read in the same transaction
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

/** @param entry key of the annotation in a list; @returns true if nothing of it remains in the list */
async function cut(transaction: Transaction, entry: Key, ties: CommentTies): Promise<boolean> {
  const annotationId = lastSegment(entry)
  const [listed = null, found = null] = await transaction.getAll([entry, keys.annotation(annotationId)])
  // It was removed from the list after the read. An annotation with its id now is a different one.
  if (listed === null) return true
  const annotation = found as AnnotationRecord | null
  if (annotation !== null) return (await removeSlice(transaction, annotation, ties)).isGone
  // An entry without an annotation would be found again forever.
  transaction.delete(entry)
  return true
}
