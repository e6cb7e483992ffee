import type { CascadeHandler } from '../../core/directory/organizations/cascade-handler.ts'
import type { OrganizationStore } from '../../core/directory/organizations/organization-store.ts'
import { mapInSlices } from '../../core/directory/store/batch.ts'
import {
  notificationIndexRanges,
  removeDocumentNotifications,
  removeSomeNotifications,
} from './notification-removal.ts'

/**
 * Returns the handler that removes notifications, read states and settings when their documents or users are
 * removed. Groups have no such data.
 */
export const createNotificationCascade = (store: OrganizationStore): CascadeHandler => ({
  async removeDocuments(scope, documentIds, goOn) {
    await mapInSlices(documentIds, (id) => removeDocumentNotifications(store, scope, id, goOn))
  },
  subjects: {
    ranges: ({ type, id }) => (type === 'user' ? notificationIndexRanges(id) : []),
    removeSome: async (transaction, { type, id }, limit) =>
      type === 'user' ? removeSomeNotifications(transaction, id, limit) : 0,
  },
})
