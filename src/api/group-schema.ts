import type { FoundGroup, Granted } from '../directory/group-views.ts'
import type { GrantRecord } from '../directory/records.ts'
import type { From } from './schema.ts'

export const organizationId = { type: 'string', format: 'id' } as const

export const groupOfUsers = {
  organizationId,
  organizationUserGroupId: { type: 'string', format: 'id', description: 'The group.' },
} as const

export const userIds = {
  type: 'array',
  minItems: 1,
  maxItems: 500,
  items: { type: 'string', format: 'id' },
  examples: [['ann', 'bob']],
} as const

const accessRole = { type: 'string', enum: ['viewer', 'editor'] } as const
const expiresAt = {
  type: 'number',
  description: 'When that ends, in Unix seconds; absent when it does not.',
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
          'What is granted to the group on the folder or document asked for, else on the organization itself; absent ' +
          'where nothing is.',
      },
      expiresAt,
      createdAt: { type: 'integer', description: 'Epoch milliseconds.' },
      lastUpdated: { type: 'integer', description: 'Epoch milliseconds.' },
      userIds: {
        type: 'array',
        items: { type: 'string' },
        description: 'Users of the group, in the order of their ids; only with `organizationUserGroupId`.',
      },
      grants: {
        type: 'array',
        description:
          'What is granted to the group, what ends first before the rest; only with `grants`. A page may have fewer ' +
          'than asked for.',
        items: {
          type: 'object',
          required: ['type', 'id', 'accessRole'],
          properties: {
            type: {
              type: 'string',
              enum: ['organization', 'folder', 'document'],
              description: 'Of what it is on.',
            },
            id: { type: 'string', description: 'Id of what it is on.' },
            accessRole,
            expiresAt,
          },
        },
      },
    },
  },
} as const

type GroupEntry = From<typeof groupRecords>[number]

export const showGroup = ({ group, grant }: FoundGroup): GroupEntry => ({
  ...group,
  ...(grant !== null && showGrant(grant)),
})

export const showGranted = ({ resource, grant }: Granted): NonNullable<GroupEntry['grants']>[number] => ({
  type: resource.type,
  id: resource.id,
  ...showGrant(grant),
})

const showGrant = ({ accessRole, expiresAt }: GrantRecord) => ({
  accessRole,
  ...(expiresAt !== null && { expiresAt }),
})

/** What became of each user, by their ids. */
export const groupUserResults = {
  type: 'object',
  description: 'By the ids of the users.',
  additionalProperties: {
    type: 'object',
    required: ['success', 'organizationUserGroupId', 'message'],
    properties: {
      success: { type: 'boolean', description: 'False: nothing was done for this user.' },
      organizationUserGroupId: { type: 'string' },
      message: { type: 'string', description: 'What was done, or why not.' },
    },
  },
} as const

interface GroupUserResult {
  readonly success: boolean
  readonly organizationUserGroupId: string
  readonly message: string
}

/** Results by user as they are answered. */
export function showResults(
  organizationUserGroupId: string,
  results: Readonly<Record<string, { readonly success: boolean; readonly message: string }>>,
): Record<string, GroupUserResult> {
  const shown = Object.create(null) as Record<string, GroupUserResult>
  for (const [userId, { success, message }] of Object.entries(results))
    shown[userId] = { success, organizationUserGroupId, message }
  return shown
}
