import type { CascadeHandler } from '../../core/directory/organizations/cascade-handler.ts'
import type { OrganizationScope } from '../../core/directory/organizations/organization-keys.ts'
import type { OrganizationStore } from '../../core/directory/organizations/organization-store.ts'
import { mapInSlices } from '../../core/directory/store/batch.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import type { Key, KvEntry } from '../../core/store/engine.ts'
import { lastSegment } from '../../core/store/key-encoding.ts'
import type { DecisionMemory } from '../decisions/decision-memory.ts'
import { type AnnotationList, commentKeys as keys } from './comment-keys.ts'
import { forgetJudged, removeQuotes } from './comment-quotes.ts'
import {
  type AnnotationRecord,
  annotationRecordType,
  type CommentRecord,
  commentRecordType,
  deleteAnnotationRecord,
  deleteCommentRecord,
  threadRecordType,
} from './comment-records.ts'

/** Maximum number of comments that one commit removes. */
const commentsAtOnce = 200
/**
 * Maximum number of annotations that are removed in parallel. This limit also bounds the work in one tick.
 */
const annotationsAtOnce = 8
/** Maximum number of list entries in one read. */
const entriesAtOnce = 100

/** The comments of an annotation that one commit has removed. */
interface RemovedSlice {
  readonly comments: readonly CommentRecord[]
  /** True if the commit has also removed the annotation itself. */
  readonly isGone: boolean
}

/**
 * Function that removes other data of an annotation before the annotation itself is removed. Returns `more`
 * if it must run again in another commit.
 */
export type RemoveFirst = (transaction: Transaction, annotationId: string) => Promise<'done' | 'more'>

/**
 * Functions that are called with the removal of comments: `forget` deletes judgments, `beforehand` runs before the
 * removal, and `removed` records it in its transaction.
 */
export interface CommentTies {
  readonly forget: (judgmentIds: readonly string[]) => Promise<unknown>
  readonly beforehand?: RemoveFirst
  readonly removed?: (
    transaction: Transaction,
    annotation: AnnotationRecord,
    comments: readonly CommentRecord[],
  ) => void
}

const nothingFirst: RemoveFirst = async () => 'done'

/**
 * Removes comments of an annotation. If this commit can remove all remaining comments, it also removes the
 * annotation itself. The thread and the comments are read by key before `beforehand` runs. If one of these
 * records changes meanwhile, the transaction therefore conflicts and is repeated.
 * @param annotation record of the annotation, which must have been read in the same transaction
 */
export async function removeSlice(
  transaction: Transaction,
  annotation: AnnotationRecord,
  { forget, beforehand = nothingFirst, removed }: CommentTies,
): Promise<RemovedSlice> {
  const { annotationId } = annotation
  const thread = await transaction.get(keys.thread(annotationId), threadRecordType)
  const entries = await transaction.scan({ prefix: keys.comments(annotationId), limit: commentsAtOnce })
  const found = await transaction.getAll(
    entries.map(({ key }) => key),
    commentRecordType,
  )
  if ((await beforehand(transaction, annotationId)) === 'more') return { comments: [], isGone: false }
  const comments = found.filter((comment) => comment !== null)
  await forgetJudged(transaction, annotationId, comments, forget)
  await removeQuotes(transaction, annotationId, comments)
  for (const comment of comments) deleteCommentRecord(transaction, annotationId, comment)
  removed?.(transaction, annotation, comments)
  const isGone = entries.length < commentsAtOnce
  if (isGone) deleteAnnotationRecord(transaction, annotation)
  else if (thread !== null)
    transaction.put(keys.thread(annotationId), { ...thread, count: thread.count - comments.length })
  return { comments, isGone }
}

/**
 * Removes all annotations of a list. Each annotation is removed in as many commits as necessary.
 * @param goOn called between commits; throws if the removal must stop
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
 * Removes as much of an annotation as one commit can remove.
 * @param entry key of the annotation in a list
 * @returns true if the list no longer contains the annotation
 */
async function cut(transaction: Transaction, entry: Key, ties: CommentTies): Promise<boolean> {
  const annotationId = lastSegment(entry)
  const [listed = null] = await transaction.getAll([entry, keys.annotation(annotationId)])
  // The annotation was removed from the list after the scan. If an annotation with this id exists now, it is
  // a different one.
  if (listed === null) return true
  const annotation = await transaction.get(keys.annotation(annotationId), annotationRecordType)
  if (annotation !== null) return (await removeSlice(transaction, annotation, ties)).isGone
  // Deletes an entry without an annotation. If it stayed in the list, each scan would find it again.
  transaction.delete(entry)
  return true
}

/**
 * Returns the handler that reacts to the removal of documents: it removes their annotations, and the
 * judgments that quote their comments.
 */
export const createCommentCascade = (
  store: OrganizationStore,
  memory: Pick<DecisionMemory, 'delete'>,
): CascadeHandler => ({
  async removeDocuments(scope, documentIds, goOn) {
    const forget = (judgmentIds: readonly string[]) => memory.delete(scope, judgmentIds)
    for (const documentId of documentIds)
      await removeListed(store, scope, { kind: 'document', documentId }, goOn, { forget })
  },
})
