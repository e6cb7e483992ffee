import { json } from '../../../../core/base/schema.ts'
import { defineOperation } from '../../../operation.ts'
import {
  changedDomains,
  domainList,
  normalizeDomains,
  partialSuccess,
} from '../../../schemas/workspace-schema.ts'

export const deleteDomains = defineOperation({
  path: '/v2/workspace/domains/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Remove allowed domains',
  description: 'If no domain remains, pages of all domains may connect.',
  request: json.object({ domains: domainList }),
  response: json.object({ domainsRemoved: changedDomains }),
  errors: [
    {
      code: 'domain/partly-changed',
      when: 'some domains did not exist; `details` has `domainsRemoved`, which were removed, and `skippedDomains`',
    },
  ],
  async handler({ domains }, { caller, services }) {
    const change = await services.domains.remove(caller.tenant, normalizeDomains(domains, '/data/domains'))
    if (change.skipped.length > 0)
      throw partialSuccess('domains that did not exist were skipped', 'domainsRemoved', change)
    return { message: 'Domains deleted.', data: { domainsRemoved: change.changed } }
  },
})
