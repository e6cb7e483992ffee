import type { OrganizationScope } from '../../core/directory/organizations/organization-keys.ts'
import type { OrganizationStore } from '../../core/directory/organizations/organization-store.ts'
import { mapInSlices } from '../../core/directory/store/batch.ts'
import { emptyValue } from '../../core/directory/store/records.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import type { Key } from '../../core/store/engine.ts'
import type { DecisionMemory } from '../decisions/decision-memory.ts'
import { commentKeys as keys } from './comment-keys.ts'
import { type AnnotationRecord, annotationRecordType } from './comment-records.ts'
import { nothingFirst, type RemoveFirst, removeListed } from './comment-removal.ts'

/** Maximum number of tombstones in one read. */
const marksAtOnce = 100

/**
 * Records that an annotation was deleted from its location. The activities of the annotation remain until the
 * location is cleared. The tombstone shows that these activities exist.
 */
export function tombstoneAnnotation(
  transaction: Transaction,
  { annotationId, documentId, location }: AnnotationRecord,
): void {
  if (location !== null)
    transaction.put([...keys.goneFrom(documentId, location.id), annotationId], emptyValue)
}

/** A document whose annotations are being removed. */
interface DocumentInRemoval {
  readonly scope: OrganizationScope
  readonly documentId: string
  /** Called between commits. Throws if the removal must stop. */
  readonly goOn: () => Promise<void>
  readonly memory: Pick<DecisionMemory, 'delete'>
}

/** Removes the annotations and tombstones of a document. The document must be marked as being deleted. */
export async function removeDocumentComments(
  store: OrganizationStore,
  { scope, documentId, goOn, memory }: DocumentInRemoval,
): Promise<void> {
  const forget = (judgmentIds: readonly string[]) => memory.delete(scope, judgmentIds)
  await removeListed(store, scope, { kind: 'document', documentId }, goOn, { forget })
  await removeTombstones(store, scope, keys.goneIn(documentId), goOn)
}

/**
 * Removes all tombstones under `prefix`. For each tombstone, `beforehand` first removes other data of the
 * annotation.
 * @param goOn called between commits; throws if the removal must stop
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
  const again = await transaction.get(keys.annotation(annotationId), annotationRecordType)
  // If the document has a new annotation with the same id, the remaining data belongs to the new annotation.
  const isOver = again?.documentId !== documentId
  if (isOver && (await beforehand(transaction, annotationId)) === 'more') return false
  transaction.delete(mark)
  return true
}
