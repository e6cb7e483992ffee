import type { DecisionMemory } from '../decisions/decision-memory.ts'
import type { OrganizationScope } from '../directory/organizations/organization-keys.ts'
import type { OrganizationStore } from '../directory/organizations/organization-store.ts'
import { mapInSlices } from '../directory/store/batch.ts'
import { emptyValue } from '../directory/store/records.ts'
import type { Transaction } from '../directory/store/transaction.ts'
import type { Key } from '../engine/engine.ts'
import { commentKeys as keys } from './comment-keys.ts'
import type { AnnotationRecord } from './comment-records.ts'
import { nothingFirst, type RemoveFirst, removeListed } from './comment-removal.ts'

/** Maximum number of tombstones in one read. */
const marksAtOnce = 100

/**
 * Records that an annotation was deleted from its location. Its activities stay until that location is
 * cleared.
 */
export function tombstoneAnnotation(
  transaction: Transaction,
  { annotationId, documentId, location }: AnnotationRecord,
): void {
  if (location !== null)
    transaction.put([...keys.goneFrom(documentId, location.id), annotationId], emptyValue)
}

/** A document whose annotations are removed. */
interface DocumentInRemoval {
  readonly scope: OrganizationScope
  readonly documentId: string
  /** Must be called between commits; throws if the work must end. */
  readonly goOn: () => Promise<void>
  readonly memory: Pick<DecisionMemory, 'delete'>
}

/** Removes the annotations of a document that is marked as being deleted. */
export async function removeDocumentComments(
  store: OrganizationStore,
  { scope, documentId, goOn, memory }: DocumentInRemoval,
): Promise<void> {
  const forget = (judgmentIds: readonly string[]) => memory.delete(scope, judgmentIds)
  await removeListed(store, scope, { kind: 'document', documentId }, goOn, { forget })
  await removeTombstones(store, scope, keys.goneIn(documentId), goOn)
}

/**
 * Removes all tombstones under `prefix`. Before each tombstone, `beforehand` removes the data of its
 * annotation.
 * @param goOn called between commits
 */
export async function removeTombstones(
  store: OrganizationStore,
  scope: OrganizationScope,
  prefix: Key,
  goOn: () => Promise<void>,
  beforehand: RemoveFirst = nothingFirst,
): Promise<void> {
  for (;;) {
    const marks = await store.read(scope).scan({ prefix, limit: marksAtOnce })
    if (marks.length === 0) return
    await mapInSlices(marks, async ({ key }) => {
      for (let isGone = false; !isGone; await goOn())
        isGone = await store.carryOut(scope, (transaction) => removeMark(transaction, key, beforehand))
    })
  }
}

async function removeMark(transaction: Transaction, mark: Key, beforehand: RemoveFirst): Promise<boolean> {
  const [, documentId, , annotationId = ''] = mark
  const again = await transaction.get<AnnotationRecord>(keys.annotation(annotationId))
  // If a new annotation of the document has the same id, the remaining data belongs to the new one.
  const isOver = again?.documentId !== documentId
  if (isOver && (await beforehand(transaction, annotationId)) === 'more') return false
  transaction.delete(mark)
  return true
}
