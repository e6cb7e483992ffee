import { json } from '../../../../../core/base/schema.ts'
import { defineBatchOperation } from '../../../../../rest/schemas/batch-results.ts'
import {
  batchMax,
  organizationId,
  organizationNotFound,
} from '../../../../../rest/schemas/resource-schema.ts'
import { checkNotificationData, notificationContent } from '../../notification-schema.ts'

export const updateNotifications = defineBatchOperation({
  path: '/v2/notifications/update',
  effect: 'repeatable',
  audited: 'change',
  summary: 'Change notifications, or mark them as read',
  description:
    'Changes the given members of notifications, and marks them as read by users; omitted members keep their values. A ' +
    'notification is not changed if it does not exist, or if a reader is not a recipient (`success: false`).',
  items: { notifications: 'id' },
  check: checkNotificationData,
  done: 'notifications updated',
  request: json.object({
    organizationId,
    notifications: json.list(
      json.object(
        { id: json.id('Id of the notification.') },
        {
          readByUserIds: json.list(json.id(), {
            maxItems: batchMax,
            description: 'Users who have read it, in addition to earlier readers.',
          }),
          ...notificationContent,
        },
      ),
      { maxItems: batchMax, examples: [[{ id: 'shared-1', readByUserIds: ['ann'] }]] },
    ),
  }),
  errors: [organizationNotFound],
  handler: ({ organizationId: id, notifications }, { caller, services }) =>
    services.notifications.update({ ...caller.tenant, organizationId: id }, notifications),
})
