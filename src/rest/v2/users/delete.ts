import { json } from '../../../core/base/schema.ts'
import { defineBatchOperation } from '../../schemas/batch-results.ts'
import { resourceErrors } from '../../schemas/resource-schema.ts'
import { userOrganization, userPlace, userResource } from '../../schemas/user-schema.ts'

export const deleteUsers = defineBatchOperation({
  path: '/v2/users/delete',
  effect: 'once',
  audited: 'admin',
  summary: 'Remove users',
  description:
    'Revokes the role of users on a folder or document. Without these, removes the users from the organization, with ' +
    'all permissions in it, their group memberships, and their records. Open connections follow within one second.',
  items: { userIds: null },
  done: 'users removed',
  request: json.object(
    {
      ...userOrganization,
      userIds: json.list(json.id(), { maxItems: 500, examples: [['ann']] }),
    },
    userPlace,
  ),
  errors: resourceErrors,
  async handler(data, { caller, services }) {
    const scope = { ...caller.tenant, organizationId: data.organizationId }
    return services.users.remove(scope, userResource(data), data.userIds)
  },
})
