import { defineBatchOperation } from '../../schemas/batch-results.ts'
import { organizationsRequest } from '../../schemas/organization-schema.ts'
import { checkMetadata } from '../../schemas/resource-schema.ts'

export const updateOrganizations = defineBatchOperation({
  path: '/v2/organizations/update',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Update organizations',
  description: 'Omitted members keep their values.',
  items: { organizations: 'organizationId' },
  check: checkMetadata,
  done: 'organizations updated',
  request: organizationsRequest,
  handler: ({ organizations }, { caller, services }) =>
    services.organizations.update(caller.tenant, organizations),
})
