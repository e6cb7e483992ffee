import { groupOfUsers, groupUserResults, showResults, userIds } from '../../../../group-schema.ts'
import { countOf } from '../../../../keyed.ts'
import { operation } from '../../../../operation.ts'

export const addGroupUsers = operation({
  path: '/v1/organizations/usergroups/users/add',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Add users to a group',
  description:
    'A group that does not exist is made, with its id as its name: it is granted nothing yet. A user of whom nothing is ' +
    'known in the organization is added all the same, and can be described with `/v2/users/update`. Who is in the group ' +
    'already stays in it. A user is in at most 200 groups of an organization.',
  request: {
    type: 'object',
    required: ['organizationId', 'organizationUserGroupId', 'userIds'],
    properties: { ...groupOfUsers, userIds },
  },
  response: groupUserResults,
  errors: [{ status: 'NOT_FOUND', when: 'the organization does not exist' }],
  async handler({ organizationUserGroupId, ...data }, { caller, services }) {
    const scope = { ...caller.tenant, organizationId: data.organizationId }
    const results = await services.groups.addUsers(scope, organizationUserGroupId, data.userIds)
    return {
      message: `${countOf(results)} users are in the group.`,
      data: showResults(organizationUserGroupId, results),
    }
  },
})
