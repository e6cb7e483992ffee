import { operation } from '../../../operation.ts'
import {
  checkDistinct,
  checkEnd,
  grantedResource,
  ownerOf,
  subjectOf,
  subjects,
} from '../../../permission-schema.ts'

export const addPermissions = operation({
  path: '/v2/auth/permissions/add',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Grant permissions',
  description:
    'Grants a user, or a user group, roles on organizations, folders and documents, over what was granted on them ' +
    'before. All of it is granted or, when something does not exist, nothing. What is granted on a document decides ' +
    'before what is granted on its folders, from the nearest up, and on the organization; what is granted to a user ' +
    'before what is granted to groups. A user of whom nothing is known is added to the organization. Open connections ' +
    'follow within a second.',
  request: {
    type: 'object',
    required: ['permissions'],
    properties: {
      user: {
        type: 'object',
        required: ['userId'],
        properties: { userId: { type: 'string', format: 'id' } },
        description: 'Required, unless `organizationUserGroupId` is given.',
        examples: [{ userId: 'ann' }],
      },
      ...subjects,
      permissions: {
        type: 'object',
        required: ['resources'],
        properties: { resources: { type: 'array', minItems: 1, maxItems: 500, items: grantedResource } },
      },
    },
  },
  response: null,
  errors: [
    {
      status: 'NOT_FOUND',
      when: 'an organization, folder, document or group does not exist; `details.resources` lists what is missing',
    },
  ],
  async handler({ user, organizationUserGroupId, permissions: { resources } }, { caller, services }) {
    const subject = subjectOf(user?.userId, organizationUserGroupId, '/data/user')
    checkDistinct(resources)
    const now = services.clock.now()
    const inputs = resources.map(({ accessRole = 'editor', expiresAt, ...resource }, index) => {
      checkEnd(expiresAt, index, now)
      return {
        organizationId: ownerOf(resource, index),
        resource: { type: resource.type, id: resource.id },
        grant: { accessRole, expiresAt: expiresAt ?? null },
      }
    })
    await services.permissions.add(caller.tenant, subject, inputs)
    return { message: `${inputs.length} permissions granted.`, data: undefined }
  },
})
