import { countOf, keyedResults } from '../../keyed.ts'
import { operation } from '../../operation.ts'
import { userResource, userScope } from '../../user-schema.ts'

export const deleteUsers = operation({
  path: '/v2/users/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Remove users',
  description:
    'Takes from users their role on a folder or document. Without these, removes them from the organization: with every ' +
    'right in it, their place in its groups, and what is known of them. Open connections follow within a second.',
  request: {
    type: 'object',
    required: ['organizationId', 'userIds'],
    properties: {
      ...userScope,
      userIds: {
        type: 'array',
        minItems: 1,
        maxItems: 500,
        items: { type: 'string', format: 'id' },
        examples: [['ann']],
      },
    },
  },
  response: keyedResults,
  errors: [{ status: 'NOT_FOUND', when: 'the organization, folder or document does not exist' }],
  async handler(data, { caller, services }) {
    const scope = { ...caller.tenant, organizationId: data.organizationId }
    const results = await services.users.remove(scope, userResource(data), data.userIds)
    return { message: `${countOf(results)} users removed.`, data: results }
  },
})
