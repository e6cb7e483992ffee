import { json } from '../../../../core/base/schema.ts'
import { defineBatchOperation } from '../../../schemas/batch-results.ts'
import { groupOrganizationId } from '../../../schemas/group-schema.ts'
import { organizationNotFound } from '../../../schemas/resource-schema.ts'

export const addGroups = defineBatchOperation({
  path: '/v1/organizations/usergroups/add',
  effect: 'repeatable',
  audited: 'admin',
  grows: 'records',
  summary: 'Add user groups',
  description:
    'Creates groups of users; permissions can be granted to groups as to users. An existing group gets the given name.',
  items: { organizationUserGroups: 'groupId' },
  done: 'groups added',
  request: json.object({
    organizationId: groupOrganizationId,
    organizationUserGroups: json.list(
      json.object(
        { groupId: json.id() },
        {
          groupName: json.text('Name of the group; default for a new group: its id.', { maxLength: 200 }),
        },
      ),
      { maxItems: 500, examples: [[{ groupId: 'design', groupName: 'Design' }]] },
    ),
  }),
  errors: [organizationNotFound],
  async handler(data, { caller, services }) {
    const scope = { ...caller.tenant, organizationId: data.organizationId }
    return services.groups.add(scope, data.organizationUserGroups)
  },
})
