import type { CascadeHandler } from '../../core/directory/organizations/cascade-handler.ts'
import type { OrganizationStore } from '../../core/directory/organizations/organization-store.ts'
import type { DecisionMemory } from '../decisions/decision-memory.ts'
import { removeDocumentComments } from './annotation-tombstones.ts'

/**
 * Returns the handler that reacts to the removal of documents: it removes their annotations, and the
 * judgments that quote their comments.
 */
export const createCommentCascade = (
  store: OrganizationStore,
  memory: Pick<DecisionMemory, 'delete'>,
): CascadeHandler => ({
  async removeDocuments(scope, documentIds, goOn) {
    for (const documentId of documentIds)
      await removeDocumentComments(store, { scope, documentId, goOn, memory })
  },
})
