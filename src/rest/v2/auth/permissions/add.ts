import { ApiError, invalid } from '../../../../core/base/errors.ts'
import { json } from '../../../../core/base/schema.ts'
import { rootFolderId } from '../../../../core/directory/organizations/organization-keys.ts'
import { reportCreated } from '../../../near-miss-warnings.ts'
import { type CreatedLists, defineOperation } from '../../../operation.ts'
import { groupNotFound } from '../../../schemas/group-schema.ts'
import {
  grantedResource,
  lastOfEach,
  organizationOfResource,
  parseSubject,
  subjects,
} from '../../../schemas/permission-schema.ts'
import { resourceErrors } from '../../../schemas/resource-schema.ts'
import {
  createMissingFlag,
  createMissingParents,
  createOrganizationFlag,
  joinCreated,
} from '../../../schemas/user-schema.ts'

const listed = '`details.resources` lists the missing resources'

export const addPermissions = defineOperation({
  path: '/v2/auth/permissions/add',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  grows: 'grants',
  warns: true,
  creates: true,
  summary: 'Grant permissions',
  description:
    'Grants a user, or a user group, roles on organizations, folders and documents, in place of earlier grants on them. ' +
    'If a resource occurs twice, the last entry counts. If a resource does not exist, nothing is granted. A grant on a ' +
    'document takes precedence over grants on its folders, from the nearest up, and on the organization. A grant to a ' +
    'user takes precedence over grants to groups. An unknown user is added to the organization. Open connections follow ' +
    'within one second.',
  request: json.object(
    {
      permissions: json.object({ resources: json.list(grantedResource, { maxItems: 500 }) }),
    },
    {
      user: json.object(
        { userId: json.id() },
        {},
        {
          description: 'Required, unless `organizationUserGroupId` is given.',
          examples: [{ userId: 'ann' }],
        },
      ),
      ...subjects,
      createMissing: createMissingFlag,
      createOrganization: createOrganizationFlag,
    },
  ),
  response: null,
  errors: [
    { code: 'folder/root', when: '`createMissing` would create the folder `root`' },
    ...resourceErrors.map((error) => ({ ...error, when: `${error.when}; ${listed}` })),
    groupNotFound,
  ],
  async handler(
    { user, organizationUserGroupId, permissions, createMissing: makes = true, createOrganization },
    { caller, services, full },
  ) {
    const subject = parseSubject(user?.userId, organizationUserGroupId, '/data/user')
    const inputs = lastOfEach(permissions.resources).map((resource, index) => {
      const { type, id, accessRole = 'editor', expiresAt = null } = resource
      return {
        organizationId: organizationOfResource(resource, index),
        resource: { type, id },
        grant: { accessRole, expiresAt },
      }
    })
    const parts: CreatedLists[] = []
    const grant = (): Promise<void> => services.permissions.add(caller.tenant, subject, inputs)
    await grant().catch(async (error: unknown) => {
      const isMissing = error instanceof ApiError && error.status === 'NOT_FOUND'
      if (!isMissing || !makes) throw error
      if (inputs.some(({ resource: { type, id } }) => type === 'folder' && id === rootFolderId))
        throw invalid(
          'folder/root',
          `the folder ${rootFolderId} cannot be created; grant permissions on the organization`,
        )
      if (full !== null) throw full
      const organizationIds = inputs.map(({ organizationId }) => organizationId)
      await services.permissions.requireSubject(caller.tenant, subject, organizationIds)
      for (const { organizationId, resource } of inputs)
        parts.push(
          await createMissingParents(services, { ...caller.tenant, organizationId }, resource, {
            createMissing: true,
            ...(createOrganization !== undefined && { createOrganization }),
          }),
        )
      await grant()
    })
    const scope = { ...caller.tenant, organizationId: inputs[0]?.organizationId ?? '' }
    const reported = await reportCreated(services, scope, joinCreated(parts))
    return { message: `${inputs.length} permissions granted.`, data: undefined, ...reported }
  },
})
