import type { Key, KvEntry } from '../../engine/engine.ts'
import { removeQuotes } from '../comment-quotes.ts'
import { forgetJudged } from '../judged-comments.ts'
import type { OrganizationScope } from '../organizations/organization-keys.ts'
import type { OrganizationStore } from '../organizations/organization-store.ts'
import { mapInSlices } from '../store/batch.ts'
import type { Transaction } from '../store/transaction.ts'
import { type AnnotationList, commentKeys as keys } from './comment-keys.ts'
import {
  type AnnotationRecord,
  type CommentRecord,
  deleteAnnotationRecord,
  deleteCommentRecord,
  type ThreadRecord,
} from './comment-records.ts'

/** Comments that are removed in one commit. */
const commentsAtOnce = 200
/** Annotations that are removed at the same time: what that takes of one turn of the event loop. */
const annotationsAtOnce = 8
/** List entries that are read at a time. */
const entriesAtOnce = 100

/** What one commit removes of an annotation. */
export interface RemovedSlice {
  readonly comments: readonly CommentRecord[]
  /** There is nothing left of the annotation. */
  readonly isGone: boolean
}

/** Something else that has to go before an annotation does: whether there is `more` of it than one commit takes. */
export type RemoveFirst = (transaction: Transaction, annotationId: string) => Promise<'done' | 'more'>

/** Other data that is deleted with comments. */
export interface CommentTies {
  readonly forget: (judgmentIds: readonly string[]) => Promise<unknown>
  readonly beforehand?: RemoveFirst
}

export const nothingFirst: RemoveFirst = async () => 'done'

/**
 * Removes comments of an annotation, and the annotation itself when no more than one commit's are left. All that is
 * removed is read by key, the thread before its comments, and all of it before `beforehand`: whoever changes anything
 * of it meanwhile makes this begin again.
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

/** Removes all annotations of a list, each in as many commits as it takes. @param goOn called between commits */
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

/** @param entry key of the annotation in a list; @returns true when there is nothing left of it in the list */
async function cut(transaction: Transaction, entry: Key, ties: CommentTies): Promise<boolean> {
  const annotationId = entry.at(-1) as string
  const [listed = null, found = null] = await transaction.getAll([entry, keys.annotation(annotationId)])
  // It has left the list since that was read; what has its id now is something else.
  if (listed === null) return true
  const annotation = found as AnnotationRecord | null
  if (annotation !== null) return (await removeSlice(transaction, annotation, ties)).isGone
  // An entry of nothing would be met for ever.
  transaction.delete(entry)
  return true
}
