import { notificationLimits as limits } from '../../../notifications/limits.ts'
import { countOf, keyedResults } from '../../keyed.ts'
import { notificationFilter } from '../../notification-schema.ts'
import { operation } from '../../operation.ts'
import { invalidAt } from '../../validator.ts'

export const deleteNotifications = operation({
  path: '/v2/notifications/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete notifications',
  description:
    'Deletes the notifications that fit all filters given, of which there must be one beside the organization: up to ' +
    `${limits.deleted} in one call, and the message says whether there are more. With \`userId\` they are deleted for ` +
    'that user alone, and altogether where nobody else is addressed.',
  request: {
    type: 'object',
    required: ['organizationId'],
    properties: {
      ...notificationFilter,
      notificationIds: { ...notificationFilter.notificationIds, examples: [['shared-1']] },
    },
  },
  response: keyedResults,
  errors: [{ status: 'NOT_FOUND', when: 'the organization or the document does not exist' }],
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
    const message = `${countOf(results)} notifications deleted${complete ? '' : '; there may be more: call again'}.`
    return { message, data: results }
  },
})
