import { countOf, keyedResults } from '../../keyed.ts'
import { operation } from '../../operation.ts'
import { organizationsRequest } from '../../organization-schema.ts'
import { checkMetadata } from '../../resource-schema.ts'

export const updateOrganizations = operation({
  path: '/v2/organizations/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Update organizations',
  description: 'What is not given stays as it is.',
  request: organizationsRequest,
  response: keyedResults,
  errors: [],
  async handler({ organizations }, { caller, services }) {
    checkMetadata('organizations', organizations)
    const results = await services.organizations.update(caller.tenant, organizations)
    return { message: `${countOf(results)} organizations updated.`, data: results }
  },
})
