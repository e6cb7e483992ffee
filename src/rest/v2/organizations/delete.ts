import { json } from '../../../core/base/schema.ts'
import { defineOperation } from '../../operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../schemas/batch-results.ts'
import { batchMax, organizationId } from '../../schemas/resource-schema.ts'

export const deleteOrganizations = defineOperation({
  path: '/v2/organizations/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete organizations',
  description:
    'Deletes organizations with their documents and content, folders, users, groups and permissions. Connections are ' +
    'closed permanently. The response comes when everything is deleted. After a crash the server resumes the deletion.',
  batch: keyedBatch({ organizationIds: null }),
  request: json.object({
    organizationIds: json.list(organizationId, { maxItems: batchMax, examples: [['acme']] }),
  }),
  response: batchResults,
  errors: [],
  async handler({ organizationIds }, { caller, services }) {
    const results = await services.organizations.delete(caller.tenant, organizationIds)
    return { message: `${countSucceeded(results)} organizations deleted.`, data: results }
  },
})
