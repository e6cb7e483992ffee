import { ApiError, invalid } from '../../../../errors.ts'
import { operation } from '../../../operation.ts'

/** Users times resources that one call may ask about. */
const pairsMax = 5_000

const ids = (what: string) =>
  ({ type: 'array', maxItems: 500, items: { type: 'string', format: 'id' }, description: what }) as const

const reports = {
  type: 'object',
  description: 'By the ids of the resources.',
  additionalProperties: {
    type: 'object',
    properties: {
      accessRole: {
        type: 'string',
        enum: ['viewer', 'editor'],
        description: 'What the user may do there, whatever gives it; absent when nothing.',
      },
      accessType: {
        type: 'string',
        enum: ['public', 'organizationPrivate', 'restricted'],
        description: 'The access type in effect, inherited or not. An organization has none.',
      },
      expiresAt: {
        type: 'number',
        description: 'Unix time in seconds at which what gives the role ends; absent when it does not.',
      },
      error: { type: 'string' },
      errorCode: { type: 'string', enum: ['does_not_exist', 'permission_denied'] },
    },
  },
} as const

export const getPermissions = operation({
  path: '/v2/auth/permissions/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Ask what users may do',
  description:
    'What each user may do in the organization, and on each of the folders and documents: by grants, groups, ' +
    'inheritance and access types. On a folder it is what the user may do on a document in it that has no settings of ' +
    'its own. In the organization itself, users who have no grant on it are viewers if they have one within it, and ' +
    'else denied.',
  request: {
    type: 'object',
    required: ['organizationId', 'userIds'],
    properties: {
      organizationId: { type: 'string', format: 'id' },
      userIds: {
        ...ids(`Users; times the resources, of which the organization is one, at most ${pairsMax}.`),
        minItems: 1,
        examples: [['ann']],
      },
      folderIds: ids('Folders to ask about.'),
      documentIds: ids('Documents to ask about.'),
    },
  },
  response: {
    type: 'object',
    description: 'By the ids of the users.',
    additionalProperties: {
      type: 'object',
      required: ['organization', 'folders', 'documents'],
      properties: { organization: reports, folders: reports, documents: reports },
    },
  },
  errors: [
    {
      status: 'NOT_FOUND',
      when: 'the organization, a folder or a document does not exist; `details` is what would be answered',
    },
  ],
  async handler({ organizationId, userIds, folderIds = [], documentIds = [] }, { caller, services }) {
    if (userIds.length * (1 + folderIds.length + documentIds.length) > pairsMax)
      throw invalid(`users times resources are more than ${pairsMax}: ask in several calls`)
    const scope = { ...caller.tenant, organizationId }
    const { users, complete } = await services.permissionReader.read(scope, {
      userIds,
      folderIds,
      documentIds,
    })
    if (!complete)
      throw new ApiError('NOT_FOUND', 'some of what was asked about does not exist', { details: users })
    return { message: 'Permissions found.', data: users }
  },
})
