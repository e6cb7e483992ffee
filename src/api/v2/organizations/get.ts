import { operation } from '../../operation.ts'
import { organizationAnswer, organizationRecord } from '../../organization-schema.ts'
import { paging, readPage } from '../../paging.ts'
import { lookupMax, organizationId } from '../../resource-schema.ts'

export const getOrganizations = operation({
  path: '/v2/organizations/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Read organizations',
  description:
    'By id, where those that do not exist are left out; or all of them in the order of their ids, in pages.',
  request: {
    type: 'object',
    properties: {
      organizationIds: {
        type: 'array',
        items: organizationId,
        maxItems: lookupMax,
        description: 'Without it all organizations of the API key.',
      },
      ...paging,
    },
  },
  response: { type: 'array', items: organizationRecord },
  errors: [],
  async handler({ organizationIds, ...page }, context) {
    const { caller, services } = context
    if (organizationIds !== undefined) {
      const found = await services.organizations.get(caller.tenant, [...new Set(organizationIds)])
      return { message: 'Organizations found.', data: found.map(organizationAnswer) }
    }
    const { found, token } = await readPage(context, ['organizations'], page, (range) =>
      services.organizations.list(caller.tenant, range),
    )
    return { message: 'Organizations found.', data: found.items.map(organizationAnswer), ...token }
  },
})
