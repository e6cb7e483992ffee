import { json } from '../../../core/base/schema.ts'
import { reportCreated } from '../../near-miss-warnings.ts'
import { type CreatedLists, defineOperation } from '../../operation.ts'
import { batchResults, countSucceeded, isAnySuccessful, keyedBatch } from '../../schemas/batch-results.ts'
import { resourceErrors } from '../../schemas/resource-schema.ts'
import {
  createFlags,
  createMissingFlag,
  createMissingParents,
  makesParents,
  toUserInputs,
  userInputs,
  userOrganization,
  userPlace,
  userResource,
} from '../../schemas/user-schema.ts'

export const addUsers = defineOperation({
  path: '/v2/users/add',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  grows: 'records',
  warns: true,
  creates: true,
  summary: 'Add users',
  description:
    'Adds users to an organization, with a role on it, or on one folder or document of it. An existing user is ' +
    'changed: omitted members keep their values. The role has no expiry.',
  batch: keyedBatch({ users: 'userId' }),
  request: json.object(
    {
      ...userOrganization,
      users: userInputs(
        'Role on the resource. Default: `editor`; a user with a role there keeps it, with its expiry.',
      ),
    },
    { ...userPlace, ...createFlags, createMissing: createMissingFlag },
  ),
  response: batchResults,
  errors: resourceErrors,
  async handler(data, { caller, services }) {
    const scope = { ...caller.tenant, organizationId: data.organizationId }
    const resource = userResource(data)
    const users = toUserInputs(data.users)
    let created: CreatedLists = {}
    const flags = { createMissing: true, ...data }
    if (makesParents(flags)) {
      const results = await services.users.rehearseAdding(scope, resource, users)
      if (!isAnySuccessful(results)) return { message: 'No users added.', data: results, created }
      created = await createMissingParents(services, scope, resource, flags)
    }
    const results = await services.users.add(scope, resource, users)
    const reported = await reportCreated(services, scope, created)
    return { message: `${countSucceeded(results)} users added.`, data: results, ...reported }
  },
})
