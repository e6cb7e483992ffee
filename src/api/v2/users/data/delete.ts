import { deletedUserId } from '../../../../model/named-users.ts'
import { defineOperation } from '../../../operation.ts'
import { dataScope, dataScopeOf } from '../../../schemas/user-data-schema.ts'

export const deleteUserData = defineOperation({
  path: '/v2/users/data/delete',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: "Delete one user's data",
  description:
    "Erases a user. The user's tokens are revoked and connections closed (4401), whatever the organization; rights, " +
    'places in groups, the record, notifications for the user, presence go; comments, activities and notifications that ' +
    `others see stay, with \`${deletedUserId}\` where they name the user, and judgments without who judged. Answers ` +
    'after at most 5 seconds: while the status is `running` it goes on in the background, also after a crash; call again ' +
    'to see how far it is. Called when it is `done`, it erases what has come since, and counts on for 30 days. Not looked ' +
    'into: the content of documents, the id in the history of who changed them, targets of activities that are not ' +
    'called `user.…`, and free text, such as messages and comments.',
  request: { type: 'object', required: ['userId'], properties: dataScope },
  response: {
    type: 'object',
    required: ['status', 'removed', 'startedAt'],
    properties: {
      status: { type: 'string', enum: ['running', 'done'], description: '`done`: nothing is left.' },
      removed: {
        type: 'object',
        additionalProperties: { type: 'integer' },
        description:
          'From how many of each the user was removed so far; a crash may leave out some that it came between.',
        examples: [{ presence: 1, judgments: 2, comments: 7, activities: 12, notifications: 3 }],
      },
      startedAt: { type: 'integer', description: 'Epoch milliseconds of the first of what is counted.' },
      endedAt: { type: 'integer', description: 'Epoch milliseconds; absent while it is running.' },
    },
  },
  errors: [{ status: 'NOT_FOUND', when: 'the organization does not exist' }],
  async handler(data, { caller, services }) {
    const { endedAt, ...report } = await services.userData.erase(dataScopeOf(data, caller), data.userId)
    const message = report.status === 'done' ? 'Data deleted.' : 'Data are being deleted; call again.'
    return {
      message,
      data: { ...report, removed: { ...report.removed }, ...(endedAt !== null && { endedAt }) },
    }
  },
})
