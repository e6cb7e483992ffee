import { json } from '../../../../core/base/schema.ts'
import { defineBatchOperation } from '../../../schemas/batch-results.ts'
import { groupOrganizationId } from '../../../schemas/group-schema.ts'
import { organizationNotFound } from '../../../schemas/resource-schema.ts'

export const deleteGroups = defineBatchOperation({
  path: '/v2/organizations/usergroups/delete',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete user groups',
  description:
    'Deletes groups with all their grants. Their users stay in the organization. Open connections follow ' +
    'within a second.',
  items: { groupIds: null },
  done: 'groups deleted',
  request: json.object({
    organizationId: groupOrganizationId,
    groupIds: json.list(json.id(), { maxItems: 500, examples: [['design']] }),
  }),
  errors: [organizationNotFound],
  handler: ({ organizationId, groupIds }, { caller, services }) =>
    services.groups.remove({ ...caller.tenant, organizationId }, groupIds),
})
