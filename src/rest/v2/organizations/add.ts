import { defineOperation } from '../../operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../schemas/batch-results.ts'
import { organizationsRequest } from '../../schemas/organization-schema.ts'
import { checkMetadata } from '../../schemas/resource-schema.ts'

export const addOrganizations = defineOperation({
  path: '/v2/organizations/add',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  grows: 'records',
  summary: 'Add organizations',
  description: 'An existing organization is not changed (`success: false`).',
  batch: keyedBatch({ organizations: 'organizationId' }, checkMetadata),
  request: organizationsRequest,
  response: batchResults,
  errors: [],
  async handler({ organizations }, { caller, services }) {
    const results = await services.organizations.add(caller.tenant, organizations)
    return { message: `${countSucceeded(results)} organizations added.`, data: results }
  },
})
