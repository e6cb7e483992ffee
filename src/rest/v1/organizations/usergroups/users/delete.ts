import { json } from '../../../../../core/base/schema.ts'
import { removedMembersMax } from '../../../../../core/directory/services/group-service.ts'
import { defineOperation } from '../../../../operation.ts'
import { countSucceeded } from '../../../../schemas/batch-results.ts'
import {
  groupNotFound,
  groupOfUsers,
  groupUserResults,
  groupUsersBatch,
  toMembershipResponse,
  userIds,
} from '../../../../schemas/group-schema.ts'
import { organizationNotFound } from '../../../../schemas/resource-schema.ts'
import { invalidAt } from '../../../../validator.ts'

export const deleteGroupUsers = defineOperation({
  path: '/v1/organizations/usergroups/users/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Remove users from a group',
  description:
    'Removes the named users, or all users, from a group. The users stay in the organization. They lose the permissions ' +
    'from the group within one second.',
  batch: groupUsersBatch,
  request: json.object(groupOfUsers, {
    userIds: { ...userIds, description: 'Users to remove; required unless `deleteAll`.' },
    deleteAll: json.flag(
      `True: removes all users, up to ${removedMembersMax} in one call; the message reports whether more remain. Not together with \`userIds\`.`,
    ),
  }),
  response: groupUserResults,
  errors: [organizationNotFound, groupNotFound],
  async handler({ organizationUserGroupId: groupId, ...data }, { caller, services }) {
    const { organizationId, userIds, deleteAll = false } = data
    const scope = { ...caller.tenant, organizationId }
    if (deleteAll && userIds !== undefined)
      throw invalidAt({ path: '/data/deleteAll', message: 'must not be given together with userIds' })
    if (deleteAll) {
      const { results, complete } = await services.groups.removeAllUsers(scope, groupId)
      const message = `${countSucceeded(results)} users removed${complete ? '' : '; there are more: call again'}.`
      return { message, data: toMembershipResponse(groupId, results) }
    }
    if (userIds === undefined)
      throw invalidAt({ path: '/data/userIds', message: 'is required unless deleteAll is true' })
    const results = await services.groups.removeUsers(scope, groupId, userIds)
    return {
      message: `${countSucceeded(results)} users removed.`,
      data: toMembershipResponse(groupId, results),
    }
  },
})
