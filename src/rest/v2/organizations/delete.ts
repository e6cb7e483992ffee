import { json } from '../../../core/base/schema.ts'
import { defineBatchOperation } from '../../schemas/batch-results.ts'
import { batchMax, organizationId } from '../../schemas/resource-schema.ts'

export const deleteOrganizations = defineBatchOperation({
  path: '/v2/organizations/delete',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete organizations',
  description:
    'Deletes organizations with their documents and content, folders, users, groups and permissions. Connections are ' +
    'closed permanently. The response comes when everything is deleted. After a crash the server resumes the deletion.',
  items: { organizationIds: null },
  done: 'organizations deleted',
  request: json.object({
    organizationIds: json.list(organizationId, { maxItems: batchMax, examples: [['acme']] }),
  }),
  handler: ({ organizationIds }, { caller, services }) =>
    services.organizations.delete(caller.tenant, organizationIds),
})
