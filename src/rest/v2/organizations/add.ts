import { defineBatchOperation } from '../../schemas/batch-results.ts'
import { organizationsRequest } from '../../schemas/organization-schema.ts'
import { checkMetadata } from '../../schemas/resource-schema.ts'

export const addOrganizations = defineBatchOperation({
  path: '/v2/organizations/add',
  effect: 'once',
  audited: 'admin',
  grows: 'records',
  summary: 'Add organizations',
  description: 'An existing organization is not changed (`success: false`).',
  items: { organizations: 'organizationId' },
  check: checkMetadata,
  done: 'organizations added',
  request: organizationsRequest,
  handler: ({ organizations }, { caller, services }) =>
    services.organizations.add(caller.tenant, organizations),
})
