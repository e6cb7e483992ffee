import { organizationId } from '../../../group-schema.ts'
import { countOf, keyedResults } from '../../../keyed.ts'
import { operation } from '../../../operation.ts'

export const deleteGroups = operation({
  path: '/v2/organizations/usergroups/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete user groups',
  description:
    'Deletes groups with all that was granted to them. Their users stay in the organization. Open connections follow ' +
    'within a second.',
  request: {
    type: 'object',
    required: ['organizationId', 'groupIds'],
    properties: {
      organizationId,
      groupIds: {
        type: 'array',
        minItems: 1,
        maxItems: 500,
        items: { type: 'string', format: 'id' },
        examples: [['design']],
      },
    },
  },
  response: keyedResults,
  errors: [{ status: 'NOT_FOUND', when: 'the organization does not exist' }],
  async handler({ organizationId, groupIds }, { caller, services }) {
    const results = await services.groups.remove({ ...caller.tenant, organizationId }, groupIds)
    return { message: `${countOf(results)} groups deleted.`, data: results }
  },
})
