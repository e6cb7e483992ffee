import { countOf, keyedResults } from '../../keyed.ts'
import { operation } from '../../operation.ts'
import { organizationsRequest } from '../../organization-schema.ts'
import { checkMetadata } from '../../resource-schema.ts'

export const addOrganizations = operation({
  path: '/v2/organizations/add',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Add organizations',
  description: 'One that exists already is left as it is: `success` is false for it.',
  request: organizationsRequest,
  response: keyedResults,
  errors: [],
  async handler({ organizations }, { caller, services }) {
    checkMetadata('organizations', organizations)
    const results = await services.organizations.add(caller.tenant, organizations)
    return { message: `${countOf(results)} organizations added.`, data: results }
  },
})
