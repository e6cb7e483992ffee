import { json } from '../../../../../core/base/schema.ts'
import { reportCreated } from '../../../../../rest/near-miss-warnings.ts'
import { defineOperation } from '../../../../../rest/operation.ts'
import { documentErrors, documentId, organizationId } from '../../../../../rest/schemas/resource-schema.ts'
import {
  createFlags,
  createMissingParents,
  makesParents,
  notifiedUser,
} from '../../../../../rest/schemas/user-schema.ts'
import { notificationLimits as limits } from '../../../limits.ts'
import type { NotifiedUser } from '../../../notification-records.ts'
import {
  checkNotificationData,
  checkNotificationId,
  checkNotifiedUsers,
  notificationContent,
} from '../../notification-schema.ts'

export const addNotification = defineOperation({
  path: '/v1/notifications/add',
  auth: 'key',
  effect: 'adds',
  audited: 'change',
  grows: 'records',
  warns: true,
  creates: true,
  summary: 'Notify users',
  description:
    'Adds a notification of a document for the named users, and for all current users of the organization unless ' +
    '`notifyAll` is false. With an id that exists already, nothing is added (`success: false`), so you can repeat the ' +
    'call safely.',
  request: {
    type: 'object',
    required: [
      'organizationId',
      'documentId',
      'actionUser',
      'displayHeadlineMessageTemplate',
      'displayBodyMessage',
      'notifyUsers',
    ],
    properties: {
      organizationId,
      documentId,
      actionUser: { ...notifiedUser, description: 'User who took the action.' },
      notificationId: json.id('Letters (a to z), digits, `_` and `-`; default: generated.', {
        examples: ['shared-2'],
      }),
      ...notificationContent,
      notifyUsers: json.list(notifiedUser, {
        maxItems: limits.notifyUsers,
        description:
          'Recipients; they need not be users of the organization. At most ' +
          `${limits.notifyUsersBytes} bytes of JSON.`,
      }),
      notifyAll: json.boolean('True: notifies all users of the organization in addition to `notifyUsers`.', {
        default: true,
      }),
      createOrganization: createFlags.createOrganization,
      createDocument: createFlags.createDocument,
    },
  },
  response: json.object({
    success: json.boolean('False: the id is used already, and nothing was added.'),
    message: json.text(),
    notificationId: json.text('The given or generated id.', { examples: ['shared-2'] }),
  }),
  errors: documentErrors,
  async handler(data, { caller, services, ids }) {
    const { notificationId, notifyAll = true } = data
    if (notificationId !== undefined) checkNotificationId('/data/notificationId', notificationId)
    checkNotificationData(data, '/data')
    const notifyUsers = unique(data.notifyUsers)
    checkNotifiedUsers(notifyUsers)
    const scope = { ...caller.tenant, organizationId: data.organizationId }
    const isUsed =
      notificationId !== undefined && (await services.notifications.isUsed(scope, notificationId))
    if (makesParents(data) && isUsed)
      return {
        message: usedAlready,
        data: { success: false, message: usedAlready, notificationId },
        created: {},
      }
    const created = await createMissingParents(
      services,
      scope,
      { type: 'document', id: data.documentId },
      data,
    )
    const added = await services.notifications.add(scope, {
      id: notificationId ?? ids.make(),
      documentId: data.documentId,
      actionUser: data.actionUser,
      displayHeadlineMessageTemplate: data.displayHeadlineMessageTemplate,
      displayHeadlineMessageTemplateData: data.displayHeadlineMessageTemplateData ?? {},
      displayBodyMessage: data.displayBodyMessage,
      notifyUsers,
      notifyAll,
      notificationSourceData: data.notificationSourceData ?? {},
    })
    // If the id was created for this call, an earlier run of the call has added the item.
    const success = added.outcome === 'added' || ids.isMade(added.id)
    const message = success ? 'Notification added.' : usedAlready
    const reported = await reportCreated(services, scope, created)
    return { message, data: { success, message, notificationId: added.id }, ...reported }
  },
})

const usedAlready = 'The notification id is used already: nothing was added.'

/** Returns each user once. A user who is given twice gets one notification, with the last given name. */
const unique = (users: readonly NotifiedUser[]): readonly NotifiedUser[] => [
  ...new Map(users.map((user) => [user.userId, user])).values(),
]
