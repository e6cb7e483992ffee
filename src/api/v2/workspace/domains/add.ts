import { domainsMax } from '../../../../directory/domains.ts'
import { changedDomains, domainList, normalizeDomains, partlyDone } from '../../../domains-schema.ts'
import { operation } from '../../../operation.ts'

export const addDomains = operation({
  path: '/v2/workspace/domains/add',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Allow domains',
  description:
    'As soon as an API key has domains, pages of other domains may neither connect nor call. What sends no ' +
    '`Origin` is not a page, and not concerned.',
  request: { type: 'object', required: ['domains'], properties: { domains: domainList } },
  response: { type: 'object', required: ['domainsAdded'], properties: { domainsAdded: changedDomains } },
  errors: [
    {
      status: 'INTERNAL',
      when: 'some were there already; `details` has `domainsAdded`, which are there now, and `skippedDomains`',
    },
    { status: 'FAILED_PRECONDITION', when: `there would be more than ${domainsMax}; none is added` },
  ],
  async handler({ domains }, { caller, services }) {
    const change = await services.domains.add(caller.tenant, normalizeDomains(domains, '/data/domains'))
    if (change.skipped.length > 0)
      throw partlyDone('domains that existed already were skipped', 'domainsAdded', change)
    return { message: 'Domains added.', data: { domainsAdded: change.changed } }
  },
})
