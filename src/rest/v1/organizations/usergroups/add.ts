import { defineOperation } from '../../../operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../../schemas/batch-results.ts'
import { groupOrganizationId } from '../../../schemas/group-schema.ts'
import { organizationNotFound } from '../../../schemas/resource-schema.ts'

export const addGroups = defineOperation({
  path: '/v1/organizations/usergroups/add',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  grows: 'records',
  summary: 'Add user groups',
  description:
    'Creates groups of users; permissions can be granted to groups as to users. An existing group gets the given name.',
  batch: keyedBatch({ organizationUserGroups: 'groupId' }),
  request: {
    type: 'object',
    required: ['organizationId', 'organizationUserGroups'],
    properties: {
      organizationId: groupOrganizationId,
      organizationUserGroups: {
        type: 'array',
        maxItems: 500,
        items: {
          type: 'object',
          required: ['groupId'],
          properties: {
            groupId: { type: 'string', format: 'id' },
            groupName: {
              type: 'string',
              maxLength: 200,
              description: 'Name of the group; default for a new group: its id.',
            },
          },
        },
        examples: [[{ groupId: 'design', groupName: 'Design' }]],
      },
    },
  },
  response: batchResults,
  errors: [organizationNotFound],
  async handler(data, { caller, services }) {
    const scope = { ...caller.tenant, organizationId: data.organizationId }
    const results = await services.groups.add(scope, data.organizationUserGroups)
    return { message: `${countSucceeded(results)} groups added.`, data: results }
  },
})
