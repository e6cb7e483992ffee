import { type FromSchema, json } from '../../../core/base/schema.ts'
import type { Metadata } from '../../../core/directory/store/records.ts'
import { createdAt, lastUpdated, lookupMax } from '../../../rest/schemas/resource-schema.ts'
import { notifiedUser } from '../../../rest/schemas/user-schema.ts'
import { invalidAt } from '../../../rest/validator.ts'
import { notificationLimits as limits } from '../limits.ts'
import type { NotifiedUser } from '../notification-records.ts'
import type { NotificationView } from '../notification-service.ts'

const notificationIdPattern = /^[A-Za-z0-9_-]+$/

/**
 * Checks the id of a notification.
 * @param path JSON pointer in the body
 * @throws ApiError INVALID_ARGUMENT
 */
export function checkNotificationId(path: string, id: string): void {
  if (notificationIdPattern.test(id)) return
  throw invalidAt({ path, message: 'must consist of letters (a to z), digits, _ and -' })
}

/** Members of a new notification that can also be changed later. */
export const notificationContent = {
  displayHeadlineMessageTemplate: json.text(
    'Headline with placeholders in curly brackets: `{actionUser}`, `{recipientUser}`, or a member of the data. An ' +
      'unknown placeholder stays in the text.',
    { maxLength: 2_000, examples: ['{actionUser} has shared {title} with {recipientUser}'] },
  ),
  displayHeadlineMessageTemplateData: json.map(
    {},
    {
      description:
        'Values of the placeholders: text, numbers, or users, who are shown by name. `recipientUser`, text or a user, is ' +
        `shown to all readers; without it each reader sees their own name. At most ${limits.dataBytes} bytes of JSON.`,
      examples: [{ title: 'the report' }],
    },
  ),
  displayBodyMessage: { type: 'string', maxLength: 20_000, examples: ['Have a look before Monday.'] },
  notificationSourceData: json.map(
    {},
    { description: `Any data about the notification, at most ${limits.dataBytes} bytes of JSON.` },
  ),
} as const

interface CheckedData {
  readonly displayHeadlineMessageTemplateData?: Metadata
  readonly notificationSourceData?: Metadata
}

/**
 * Checks the size of the list of users.
 * @throws ApiError INVALID_ARGUMENT if the list is too large
 */
export function checkNotifiedUsers(users: readonly NotifiedUser[]): void {
  if (Buffer.byteLength(JSON.stringify(users)) <= limits.notifyUsersBytes) return
  throw invalidAt({
    path: '/data/notifyUsers',
    message: `must be at most ${limits.notifyUsersBytes} bytes as JSON`,
  })
}

/**
 * Checks the sizes of the free-form members.
 * @param at JSON pointer of the object that contains these members
 * @throws ApiError INVALID_ARGUMENT if a member is too large
 */
export function checkNotificationData(data: CheckedData, at: string): void {
  for (const name of ['displayHeadlineMessageTemplateData', 'notificationSourceData'] as const) {
    const given = data[name]
    if (given === undefined || Buffer.byteLength(JSON.stringify(given)) <= limits.dataBytes) continue
    throw invalidAt({ path: `${at}/${name}`, message: `must be at most ${limits.dataBytes} bytes as JSON` })
  }
}

/** Request members that select notifications. */
export const notificationFilter = {
  organizationId: json.id('Id of the organization.'),
  documentId: json.id('Only notifications of this document.'),
  userId: json.id('Only notifications for this user.'),
  notificationIds: json.list(json.id(), {
    maxItems: lookupMax,
    description: 'Only notifications with these ids.',
  }),
} as const

export const notificationRecords = json.list(
  json.object({
    id: { type: 'string', examples: ['shared-1'] },
    documentId: json.text(),
    actionUser: notifiedUser,
    ...notificationContent,
    displayHeadlineMessage: json.text(
      'The headline for the reader `userId`, or for a general reader without `userId`. At most ' +
        `${limits.headlineLength} characters.`,
    ),
    notifyUsers: json.list(notifiedUser),
    notifyAll: json.boolean(),
    readByUserIds: json.list(json.text(), {
      description: `Ids of users who have read it. With \`userId\` only that user, else at most ${limits.readersShown}.`,
    }),
    createdAt,
    lastUpdated,
  }),
)

/** Converts a notification to its response. */
export const toNotificationResponse = ({
  record,
  headline,
  readByUserIds,
}: NotificationView): FromSchema<typeof notificationRecords>[number] => ({
  ...record,
  displayHeadlineMessage: headline,
  readByUserIds,
})

const level = json.choice(
  ['ALL', 'MINE', 'NONE'],
  '`ALL`: every notification; `MINE`: notifications that name the user; `NONE`: no notifications.',
)

export const notificationConfig = json.object(
  {},
  { inbox: level, email: level, slack: level },
  { examples: [{ inbox: 'MINE', email: 'NONE' }] },
)
