import { ApiError, invalid } from '../../../../core/base/errors.ts'
import { json } from '../../../../core/base/schema.ts'
import { accessRoles } from '../../../../core/directory/store/records.ts'
import { defineOperation } from '../../../operation.ts'

/** Maximum number of users times resources in one call. */
export const pairsMax = 5_000

const ids = (what: string) => json.list(json.id(), { maxItems: 500, description: what })

const reports = json.map(
  json.object(
    {},
    {
      accessRole: json.choice(accessRoles, 'Effective role of the user there; absent without access.'),
      accessType: json.choice(
        ['public', 'organizationPrivate', 'restricted'],
        'Effective access type, inherited or not; absent for organizations.',
      ),
      expiresAt: json.number('Expiry of the role, in Unix seconds; absent without an expiry.'),
      error: json.text(),
      reason: json.object(
        {
          source: json.choice(
            ['user', 'group', 'accessType', 'membership'],
            'A grant to the user, a grant to a group of the user, the access type, or membership of the organization ' +
              '(any grant in it). Without a role: the source that denies access.',
          ),
        },
        {
          resourceType: json.choice(['organization', 'folder', 'document']),
          resourceId: json.text(
            'Has the grant or sets the access type. Absent for a membership, and for an access type that nothing sets.',
          ),
          groupId: json.text('The group of the grant.'),
        },
        { description: 'Reason of the role, or of its absence; absent if the resource does not exist.' },
      ),
      errorCode: json.choice(['does_not_exist', 'permission_denied']),
    },
  ),
  { description: 'By resource id.' },
)

export const getPermissions = defineOperation({
  path: '/v2/auth/permissions/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Read effective permissions of users',
  description:
    'Effective role of each user in the organization, and on each of the folders and documents: by grants, groups, ' +
    'inheritance and access types. The role on a folder is the role on a document in it that has no settings of its ' +
    'own. In the organization itself, users without a grant on it are viewers if they have a grant within it, and else ' +
    'denied.',
  request: json.object(
    {
      organizationId: json.id(),
      userIds: {
        ...ids(`Users; times the resources, of which the organization is one, at most ${pairsMax}.`),
        examples: [['ann']],
      },
    },
    {
      folderIds: ids('Folders to ask about.'),
      documentIds: ids('Documents to ask about.'),
    },
  ),
  response: json.map(
    json.object({
      organization: reports,
      folders: reports,
      documents: reports,
    }),
    { description: 'By user id.' },
  ),
  errors: [
    {
      code: 'auth/resource-not-found',
      when: 'the organization, a folder or a document does not exist; `details` is what would be answered, and `code`',
    },
  ],
  async handler({ organizationId, userIds, folderIds = [], documentIds = [] }, { caller, services }) {
    if (userIds.length * (1 + folderIds.length + documentIds.length) > pairsMax)
      throw invalid(
        'auth/too-many-results',
        `the number of users times the number of resources is more than ${pairsMax}; split the call`,
      )
    const scope = { ...caller.tenant, organizationId }
    const { users, complete } = await services.permissionReader.read(scope, {
      userIds,
      folderIds,
      documentIds,
    })
    if (!complete)
      throw new ApiError(
        'auth/resource-not-found',
        'some of the named resources do not exist; see does_not_exist in details',
        { details: users },
      )
    return { message: 'Permissions found.', data: users }
  },
})
