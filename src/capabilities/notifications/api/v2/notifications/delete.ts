import { defineOperation } from '../../../../../rest/operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../../../../rest/schemas/batch-results.ts'
import { documentErrors } from '../../../../../rest/schemas/resource-schema.ts'
import { invalidAt } from '../../../../../rest/validator.ts'
import { notificationLimits as limits } from '../../../limits.ts'
import { notificationFilter } from '../../notification-schema.ts'

export const deleteNotifications = defineOperation({
  path: '/v2/notifications/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete notifications',
  description:
    'Deletes the notifications that match all filters; at least one filter besides the organization is required. One ' +
    `call deletes at most ${limits.deleted}, and the message reports whether more remain. With \`userId\` they are ` +
    'deleted only for that user, and completely if they have no other recipient.',
  batch: keyedBatch({ notificationIds: null }),
  request: {
    type: 'object',
    required: ['organizationId'],
    properties: {
      ...notificationFilter,
      notificationIds: { ...notificationFilter.notificationIds, examples: [['shared-1']] },
    },
  },
  response: batchResults,
  errors: documentErrors,
  async handler({ organizationId, documentId, userId, notificationIds }, { caller, services }) {
    if (documentId === undefined && userId === undefined && notificationIds === undefined)
      throw invalidAt({
        path: '/data/notificationIds',
        message: 'is required unless there is a documentId or a userId',
      })
    const scope = { ...caller.tenant, organizationId }
    const { results, complete } = await services.notifications.delete(
      scope,
      { documentId, userId },
      notificationIds,
    )
    const message = `${countSucceeded(results)} notifications deleted${complete ? '' : '; there may be more: call again'}.`
    return { message, data: results }
  },
})
