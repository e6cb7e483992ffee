import { json } from '../../../core/base/schema.ts'
import { defineBatchOperation } from '../../schemas/batch-results.ts'
import { resourceErrors } from '../../schemas/resource-schema.ts'
import {
  toUserInputs,
  userInputs,
  userOrganization,
  userPlace,
  userResource,
} from '../../schemas/user-schema.ts'

export const updateUsers = defineBatchOperation({
  path: '/v2/users/update',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Change users',
  description:
    'Changes the records of users, and their role on the resource. Omitted members keep their values. A user who is not ' +
    'a user of the resource is not changed (`success: false`).',
  items: { users: 'userId' },
  done: 'users updated',
  request: json.object(
    {
      ...userOrganization,
      users: userInputs('New role on the resource; its expiry, if any, does not change.'),
    },
    userPlace,
  ),
  errors: resourceErrors,
  async handler(data, { caller, services }) {
    const scope = { ...caller.tenant, organizationId: data.organizationId }
    return services.users.update(scope, userResource(data), toUserInputs(data.users))
  },
})
