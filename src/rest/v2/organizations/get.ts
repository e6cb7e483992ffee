import { json } from '../../../core/base/schema.ts'
import { directoryLimits } from '../../../core/directory/limits.ts'
import { defineOperation } from '../../operation.ts'
import { pageRequest, parseSearch, readPage, searchQuery, searchRequest } from '../../paging/page-request.ts'
import { organizationAnswer, organizationRecord } from '../../schemas/organization-schema.ts'
import { lookupMax, organizationId } from '../../schemas/resource-schema.ts'

const { organizationsLookedAtBySearch: lookedAtMax } = directoryLimits

export const getOrganizations = defineOperation({
  path: '/v2/organizations/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Read organizations',
  description:
    'Returns organizations by id, without unknown ids; or all organizations, ordered by id, in pages. `search` selects ' +
    'organizations whose id or name contains it.',
  request: json.object(
    {},
    {
      organizationIds: json.list(organizationId, {
        maxItems: lookupMax,
        description: 'Default: all organizations of the API key.',
      }),
      ...searchRequest('their id or name; not with `organizationIds`', lookedAtMax),
      ...pageRequest,
    },
  ),
  response: json.list(organizationRecord),
  async handler({ organizationIds, search: text, ...page }, context) {
    const { caller, services } = context
    const search = parseSearch(text, ['organizationIds', organizationIds], lookedAtMax)
    if (organizationIds !== undefined) {
      const found = await services.organizations.get(caller.tenant, [...new Set(organizationIds)])
      return { message: 'Organizations found.', data: found.map(organizationAnswer) }
    }
    const query = ['organizations', ...searchQuery(text)]
    const { found, token } = await readPage(context, query, page, (range) =>
      services.organizations.list(caller.tenant, { ...range, search }),
    )
    return { message: 'Organizations found.', data: found.items.map(organizationAnswer), ...token }
  },
})
