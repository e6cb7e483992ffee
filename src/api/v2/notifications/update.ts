import { countOf, keyedResults } from '../../keyed.ts'
import { checkNotificationData, notificationContent } from '../../notification-schema.ts'
import { operation } from '../../operation.ts'
import { batchMax, noOrganization, organizationId } from '../../resource-schema.ts'

export const updateNotifications = operation({
  path: '/v2/notifications/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'change',
  summary: 'Change notifications, or mark them as read',
  description:
    'Changes what is given of notifications, and notes who has read them; what is left out stays as it is. One that ' +
    'does not exist, or is not addressed to somebody who is said to have read it, is not changed (`success: false`).',
  request: {
    type: 'object',
    required: ['organizationId', 'notifications'],
    properties: {
      organizationId,
      notifications: {
        type: 'array',
        minItems: 1,
        maxItems: batchMax,
        items: {
          type: 'object',
          required: ['id'],
          properties: {
            id: { type: 'string', format: 'id', description: 'Id of the notification.' },
            readByUserIds: {
              type: 'array',
              maxItems: batchMax,
              items: { type: 'string', format: 'id' },
              description: 'Who has read it, beside those who had.',
            },
            ...notificationContent,
          },
        },
        examples: [[{ id: 'shared-1', readByUserIds: ['ann'] }]],
      },
    },
  },
  response: keyedResults,
  errors: [noOrganization],
  async handler({ organizationId: id, notifications }, { caller, services }) {
    for (const [index, change] of notifications.entries())
      checkNotificationData(`/data/notifications/${index}`, change)
    const results = await services.notifications.update(
      { ...caller.tenant, organizationId: id },
      notifications,
    )
    return { message: `${countOf(results)} notifications updated.`, data: results }
  },
})
