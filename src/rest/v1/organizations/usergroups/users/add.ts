import { json } from '../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../operation.ts'
import { countSucceeded } from '../../../../schemas/batch-results.ts'
import {
  addedUserResults,
  groupOfUsers,
  groupUsersBatch,
  toMembershipResponse,
  userIds,
} from '../../../../schemas/group-schema.ts'
import { organizationNotFound } from '../../../../schemas/resource-schema.ts'

export const addGroupUsers = defineOperation({
  path: '/v1/organizations/usergroups/users/add',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  grows: 'records',
  summary: 'Add users to a group',
  description:
    'A group that does not exist is created without grants, with its id as its name, and `groupCreated` is true. The ' +
    'users need not be users of the organization; `/v2/users/update` describes them. Members of the group stay in it. ' +
    'A user is in at most 200 groups of an organization.',
  batch: groupUsersBatch,
  request: json.object({
    ...groupOfUsers,
    userIds,
  }),
  response: addedUserResults,
  errors: [organizationNotFound],
  async handler({ organizationUserGroupId, ...data }, { caller, services }) {
    const scope = { ...caller.tenant, organizationId: data.organizationId }
    const { results, groupCreated } = await services.groups.addUsers(
      scope,
      organizationUserGroupId,
      data.userIds,
    )
    return {
      message: `${countSucceeded(results)} users are in the group${groupCreated ? ', which was created' : ''}.`,
      data: toMembershipResponse(organizationUserGroupId, results, groupCreated ? { groupCreated } : {}),
    }
  },
})
