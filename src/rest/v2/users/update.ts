import { json } from '../../../core/base/schema.ts'
import { defineOperation } from '../../operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../schemas/batch-results.ts'
import { resourceErrors } from '../../schemas/resource-schema.ts'
import {
  toUserInputs,
  userInputs,
  userOrganization,
  userPlace,
  userResource,
} from '../../schemas/user-schema.ts'

export const updateUsers = defineOperation({
  path: '/v2/users/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Change users',
  description:
    'Changes the records of users, and their role on the resource. Omitted members keep their values. A user who is not ' +
    'a user of the resource is not changed (`success: false`).',
  batch: keyedBatch({ users: 'userId' }),
  request: json.object(
    {
      ...userOrganization,
      users: userInputs('New role on the resource; its expiry, if any, does not change.'),
    },
    userPlace,
  ),
  response: batchResults,
  errors: resourceErrors,
  async handler(data, { caller, services }) {
    const scope = { ...caller.tenant, organizationId: data.organizationId }
    const results = await services.users.update(scope, userResource(data), toUserInputs(data.users))
    return { message: `${countSucceeded(results)} users updated.`, data: results }
  },
})
