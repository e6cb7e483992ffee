import { countOf, keyedResults } from '../../keyed.ts'
import { operation } from '../../operation.ts'
import { createFlags, createMissing, userInputs, userResource, userScope } from '../../user-schema.ts'

export const addUsers = operation({
  path: '/v2/users/add',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Add users',
  description:
    'Makes users of an organization and gives them a role on it, or on one folder or document of it. Who is there ' +
    'already is changed: what is left out stays as it is. A role given here does not end by itself.',
  request: {
    type: 'object',
    required: ['organizationId', 'users'],
    properties: {
      ...userScope,
      users: userInputs(
        'Role on the resource. Without it `editor`; a user who has a role there keeps it, with its end.',
      ),
      ...createFlags,
    },
  },
  response: keyedResults,
  errors: [{ status: 'NOT_FOUND', when: 'the organization, folder or document does not exist' }],
  async handler(data, { caller, services }) {
    const scope = { ...caller.tenant, organizationId: data.organizationId }
    const resource = userResource(data)
    await createMissing(services, scope, resource, data)
    const results = await services.users.add(scope, resource, data.users)
    return { message: `${countOf(results)} users added.`, data: results }
  },
})
