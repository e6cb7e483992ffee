import { json } from '../../../../../../core/base/schema.ts'
import { deletedUserId } from '../../../../../../core/model/deleted-user.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { organizationNotFound } from '../../../../../../rest/schemas/resource-schema.ts'
import { dataScope, dataScopeOf } from '../../../user-data-schema.ts'

export const deleteUserData = defineOperation({
  path: '/v2/users/data/delete',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: "Delete one user's data",
  description:
    "Erases a user. Revokes the user's tokens and closes the user's connections (4401) in every organization. Deletes " +
    'permissions, group memberships, the user record, notifications for the user, and presence. Comments, activities ' +
    `and notifications that others see stay, with \`${deletedUserId}\` in place of the user; judgments stay without a ` +
    'reviewer. The response comes after at most 5 seconds. While the status is `running`, the erasure continues in the ' +
    'background, also after a crash; call again to read the progress. A call after `done` erases later data, and adds to ' +
    'the counts for 30 days. Not erased: the content of documents, the id in their change history, targets of ' +
    'activities that are not named `user.…`, and free text, such as messages and comments.',
  request: { type: 'object', required: ['userId'], properties: dataScope },
  response: json.object(
    {
      status: json.choice(['running', 'done'], '`done`: everything is deleted.'),
      removed: json.map(json.integer(), {
        description:
          'From how many of each the user was removed so far; a crash may leave out some that it came between.',
        examples: [{ presence: 1, judgments: 2, comments: 7, activities: 12, notifications: 3 }],
      }),
      startedAt: json.integer('Epoch milliseconds of the first of what is counted.'),
    },
    { endedAt: json.integer('Epoch milliseconds; absent while it is running.') },
  ),
  errors: [organizationNotFound],
  async handler(data, { caller, services }) {
    const { endedAt, ...report } = await services.userData.erase(dataScopeOf(data, caller), data.userId)
    const message = report.status === 'done' ? 'Data deleted.' : 'Data are being deleted; call again.'
    return {
      message,
      data: { ...report, removed: { ...report.removed }, ...(endedAt !== null && { endedAt }) },
    }
  },
})
