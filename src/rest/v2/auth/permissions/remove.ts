import { json } from '../../../../core/base/schema.ts'
import { defineOperation } from '../../../operation.ts'
import {
  namedResource,
  organizationOfResource,
  parseSubject,
  subjects,
} from '../../../schemas/permission-schema.ts'
import { organizationNotFound } from '../../../schemas/resource-schema.ts'

export const removePermissions = defineOperation({
  path: '/v2/auth/permissions/remove',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Revoke permissions',
  description:
    'Revokes the grants of a user, or a user group, on the named resources themselves. Access by other grants and by ' +
    'access types stays. A missing grant or resource is not an error. Open connections follow within one second.',
  request: json.object(
    {
      permissions: json.object({ resources: json.list(namedResource, { maxItems: 500 }) }),
    },
    {
      userId: json.id('Required, unless `organizationUserGroupId` is given.', { examples: ['ann'] }),
      ...subjects,
    },
  ),
  response: null,
  errors: [organizationNotFound],
  async handler({ userId, organizationUserGroupId, permissions: { resources } }, { caller, services }) {
    const subject = parseSubject(userId, organizationUserGroupId, '/data/userId')
    const inputs = resources.map((resource, index) => ({
      organizationId: organizationOfResource(resource, index),
      resource: { type: resource.type, id: resource.id },
    }))
    await services.permissions.remove(caller.tenant, subject, inputs)
    return { message: 'Permissions removed.', data: undefined }
  },
})
