import { json } from '../../../../core/base/schema.ts'
import { defineOperation } from '../../../operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../../schemas/batch-results.ts'
import { groupOrganizationId } from '../../../schemas/group-schema.ts'
import { organizationNotFound } from '../../../schemas/resource-schema.ts'

export const deleteGroups = defineOperation({
  path: '/v2/organizations/usergroups/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete user groups',
  description:
    'Deletes groups with all their grants. Their users stay in the organization. Open connections follow ' +
    'within a second.',
  batch: keyedBatch({ groupIds: null }),
  request: json.object({
    organizationId: groupOrganizationId,
    groupIds: json.list(json.id(), { maxItems: 500, examples: [['design']] }),
  }),
  response: batchResults,
  errors: [organizationNotFound],
  async handler({ organizationId, groupIds }, { caller, services }) {
    const results = await services.groups.remove({ ...caller.tenant, organizationId }, groupIds)
    return { message: `${countSucceeded(results)} groups deleted.`, data: results }
  },
})
