import { json } from '../../../../../core/base/schema.ts'
import type { PageRange } from '../../../../../core/directory/store/list-page.ts'
import { defineOperation } from '../../../../../rest/operation.ts'
import { answerPage, pageRequest } from '../../../../../rest/paging/page-request.ts'
import { documentErrors } from '../../../../../rest/schemas/resource-schema.ts'
import { notificationFilter, notificationRecords, toNotificationResponse } from '../../notification-schema.ts'

export const getNotifications = defineOperation({
  path: '/v2/notifications/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'List notifications',
  description:
    "Notifications of an organization that match all filters, by time. With `userId` they are the user's inbox: " +
    "notifications for the user that the user's notification settings allow. A page may have fewer items than " +
    'requested, or no items: continue until there is no `pageToken`.',
  request: {
    type: 'object',
    required: ['organizationId'],
    properties: {
      ...notificationFilter,
      order: json.choice(
        ['desc', 'asc'],
        'By time: the newest first, or the oldest. Ignored with `notificationIds`.',
        { default: 'desc' },
      ),
      ...pageRequest,
    },
  },
  response: notificationRecords,
  errors: documentErrors,
  async handler({ notificationIds, order = 'desc', ...data }, context) {
    const { organizationId, documentId, userId } = data
    const { notifications } = context.services
    const scope = { ...context.caller.tenant, organizationId }
    const filter = { documentId, userId }
    if (notificationIds !== undefined) {
      const found = await notifications.find(scope, filter, notificationIds)
      return { message: `${found.length} notifications found.`, data: found.map(toNotificationResponse) }
    }
    const query = ['notifications', organizationId, documentId ?? null, userId ?? null, order]
    const list = (range: PageRange) => notifications.list(scope, { ...filter, order, ...range })
    return answerPage(context, query, data, list, ['notifications', toNotificationResponse])
  },
})
