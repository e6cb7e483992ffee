import { json } from '../../../../core/base/schema.ts'
import { domainsMax } from '../../../../core/directory/tenants/domain-service.ts'
import { defineOperation } from '../../../operation.ts'

export const getDomains = defineOperation({
  path: '/v2/workspace/domains/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'List the allowed domains',
  description: `At most ${domainsMax}, in the order in which they were added.`,
  request: json.object({}),
  response: json.object({
    allowedDomains: json.list(json.text(), { description: 'Empty: pages of all domains may connect.' }),
  }),
  async handler(_data, { caller, services }) {
    return {
      message: 'Domains found.',
      data: { allowedDomains: await services.domains.list(caller.tenant) },
    }
  },
})
