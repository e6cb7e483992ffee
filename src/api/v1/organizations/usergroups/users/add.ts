import { defineOperation } from '../../../../operation.ts'
import { countSucceeded } from '../../../../schemas/batch-results.ts'
import {
  addedUserResults,
  groupOfUsers,
  groupUsersBatch,
  showResults,
  userIds,
} from '../../../../schemas/group-schema.ts'

export const addGroupUsers = defineOperation({
  path: '/v1/organizations/usergroups/users/add',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Add users to a group',
  description:
    'A group that does not exist is made, with its id as its name, and `groupCreated` is true: it is granted nothing yet. A user of whom nothing is ' +
    'known in the organization is added all the same, and can be described with `/v2/users/update`. Who is in the group ' +
    'already stays in it. A user is in at most 200 groups of an organization.',
  batch: groupUsersBatch,
  request: {
    type: 'object',
    required: ['organizationId', 'organizationUserGroupId', 'userIds'],
    properties: { ...groupOfUsers, userIds },
  },
  response: addedUserResults,
  errors: [{ status: 'NOT_FOUND', when: 'the organization does not exist' }],
  async handler({ organizationUserGroupId, ...data }, { caller, services }) {
    const scope = { ...caller.tenant, organizationId: data.organizationId }
    const { results, groupCreated } = await services.groups.addUsers(
      scope,
      organizationUserGroupId,
      data.userIds,
    )
    return {
      message: `${countSucceeded(results)} users are in the group${groupCreated ? ', which was created' : ''}.`,
      data: showResults(organizationUserGroupId, results, groupCreated ? { groupCreated } : {}),
    }
  },
})
