import { defineOperation } from '../../operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../schemas/batch-results.ts'
import { organizationsRequest } from '../../schemas/organization-schema.ts'
import { checkMetadata } from '../../schemas/resource-schema.ts'

export const updateOrganizations = defineOperation({
  path: '/v2/organizations/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Update organizations',
  description: 'Omitted members keep their values.',
  batch: keyedBatch({ organizations: 'organizationId' }, checkMetadata),
  request: organizationsRequest,
  response: batchResults,
  errors: [],
  async handler({ organizations }, { caller, services }) {
    const results = await services.organizations.update(caller.tenant, organizations)
    return { message: `${countSucceeded(results)} organizations updated.`, data: results }
  },
})
