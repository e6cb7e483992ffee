import type { FromSchema } from '../../core/base/schema.ts'
import type { FoundGroup, GroupGrant } from '../../core/directory/services/group-service.ts'
import type { BatchItemResult, BatchResults } from '../../core/directory/store/batch.ts'
import { accessRoles, type GrantRecord } from '../../core/directory/store/records.ts'
import type { Batch } from '../operation.ts'
import { failureDetails } from './batch-results.ts'

export const groupOrganizationId = { type: 'string', format: 'id' } as const

export const groupNotFound = {
  status: 'NOT_FOUND',
  code: 'group/not-found',
  when: 'the group does not exist',
} as const

export const groupOfUsers = {
  organizationId: groupOrganizationId,
  organizationUserGroupId: { type: 'string', format: 'id', description: 'The group.' },
} as const

export const userIds = {
  type: 'array',
  maxItems: 500,
  items: { type: 'string', format: 'id' },
  examples: [['ann', 'bob']],
} as const

const accessRole = { type: 'string', enum: accessRoles } as const
const expiresAt = {
  type: 'number',
  description: 'Expiry of the role, in Unix seconds; absent without an expiry.',
} as const

export const groupRecords = {
  type: 'array',
  items: {
    type: 'object',
    required: ['groupId', 'groupName', 'createdAt', 'lastUpdated'],
    properties: {
      groupId: { type: 'string' },
      groupName: { type: 'string' },
      accessRole: {
        ...accessRole,
        description:
          'Role of the group on the requested folder or document, else on the organization itself; absent without a ' +
          'grant.',
      },
      expiresAt,
      createdAt: { type: 'integer', description: 'Epoch milliseconds.' },
      lastUpdated: { type: 'integer', description: 'Epoch milliseconds.' },
      userIds: {
        type: 'array',
        items: { type: 'string' },
        description: 'Users of the group, ordered by id; only with `organizationUserGroupId`.',
      },
      grants: {
        type: 'array',
        description:
          'Grants of the group, ordered by expiry; only with `grants`. A page may have fewer items than requested.',
        items: {
          type: 'object',
          required: ['type', 'id', 'accessRole'],
          properties: {
            type: {
              type: 'string',
              enum: ['organization', 'folder', 'document'],
              description: 'Type of the resource.',
            },
            id: { type: 'string', description: 'Id of the resource.' },
            accessRole,
            expiresAt,
          },
        },
      },
    },
  },
} as const

type GroupEntry = FromSchema<typeof groupRecords>[number]

export const toGroupResponse = ({ group, grant }: FoundGroup): GroupEntry => ({
  ...group,
  ...(grant !== null && toGrantResponse(grant)),
})

export const toGroupGrantResponse = ({
  resource,
  grant,
}: GroupGrant): NonNullable<GroupEntry['grants']>[number] => ({
  type: resource.type,
  id: resource.id,
  ...toGrantResponse(grant),
})

const toGrantResponse = ({ accessRole, expiresAt }: GrantRecord) => ({
  accessRole,
  ...(expiresAt !== null && { expiresAt }),
})

/** Schema of the results of users, by user id. */
export const groupUserResults = {
  type: 'object',
  description: 'By user id.',
  additionalProperties: {
    type: 'object',
    required: ['success', 'organizationUserGroupId', 'message'],
    properties: {
      success: { type: 'boolean', description: 'False: nothing was done for this user.' },
      organizationUserGroupId: { type: 'string' },
      message: { type: 'string', description: 'Result, or the reason of the failure.' },
      details: failureDetails,
    },
  },
} as const

export const addedUserResults = {
  ...groupUserResults,
  additionalProperties: {
    ...groupUserResults.additionalProperties,
    properties: {
      ...groupUserResults.additionalProperties.properties,
      groupCreated: { type: 'boolean', description: 'True: this call created the group; else absent.' },
    },
  },
} as const

export const groupUsersBatch: Batch = {
  items: { userIds: null },
  rejected: (_userId, failure, data) => ({
    success: false,
    organizationUserGroupId: data.get('organizationUserGroupId'),
    ...failure,
  }),
}

interface GroupUserResult {
  readonly success: boolean
  readonly organizationUserGroupId: string
  readonly message: string
  readonly details?: NonNullable<BatchItemResult['details']>
  readonly groupCreated?: boolean
}

/**
 * Converts the results of users to their response, by user id.
 * @param more additional members of every result
 */
export function toMembershipResponse(
  organizationUserGroupId: string,
  results: BatchResults,
  more: Pick<GroupUserResult, 'groupCreated'> = {},
): Record<string, GroupUserResult> {
  const shown: Record<string, GroupUserResult> = Object.create(null)
  for (const [userId, { id: _, ...result }] of Object.entries(results))
    shown[userId] = { ...result, organizationUserGroupId, ...more }
  return shown
}
