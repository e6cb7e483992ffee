import { json } from '../../../../core/base/schema.ts'
import { domainsMax } from '../../../../core/directory/tenants/domain-service.ts'
import { defineOperation } from '../../../operation.ts'
import {
  changedDomains,
  domainList,
  normalizeDomains,
  partialSuccess,
} from '../../../schemas/workspace-schema.ts'

export const addDomains = defineOperation({
  path: '/v2/workspace/domains/add',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Allow domains',
  description:
    'If an API key has domains, pages of other domains may neither connect nor call. Requests without an `Origin` ' +
    'header are not from pages, and are not restricted.',
  request: json.object({ domains: domainList }),
  response: json.object({ domainsAdded: changedDomains }),
  errors: [
    {
      code: 'domain/partly-changed',
      when: 'some domains existed already; `details` has `domainsAdded`, which were added, and `skippedDomains`',
    },
    { code: 'domain/too-many', when: `there would be more than ${domainsMax}; none is added` },
  ],
  async handler({ domains }, { caller, services }) {
    const change = await services.domains.add(caller.tenant, normalizeDomains(domains, '/data/domains'))
    if (change.skipped.length > 0)
      throw partialSuccess('domains that existed already were skipped', 'domainsAdded', change)
    return { message: 'Domains added.', data: { domainsAdded: change.changed } }
  },
})
