import { type FromSchema, json } from '../../core/base/schema.ts'
import type { FoundGroup, GroupGrant } from '../../core/directory/services/group-service.ts'
import type { BatchItemResult, BatchResults } from '../../core/directory/store/batch.ts'
import { accessRoles, type GrantRecord } from '../../core/directory/store/records.ts'
import type { Batch } from '../operation.ts'
import { failureDetails } from './batch-results.ts'

export const groupOrganizationId = json.id()

export const groupNotFound = { code: 'group/not-found', when: 'the group does not exist' } as const

export const groupOfUsers = {
  organizationId: groupOrganizationId,
  organizationUserGroupId: json.id('The group.'),
} as const

export const userIds = json.list(json.id(), { maxItems: 500, examples: [['ann', 'bob']] })

const accessRole = json.choice(accessRoles)
const expiresAt = json.number('Expiry of the role, in Unix seconds; absent without an expiry.')

export const groupRecords = json.list(
  json.object(
    {
      groupId: json.text(),
      groupName: json.text(),
      createdAt: json.integer('Epoch milliseconds.'),
      lastUpdated: json.integer('Epoch milliseconds.'),
    },
    {
      accessRole: {
        ...accessRole,
        description:
          'Role of the group on the requested folder or document, else on the organization itself; absent without a ' +
          'grant.',
      },
      expiresAt,
      userIds: json.list(json.text(), {
        description: 'Users of the group, ordered by id; only with `organizationUserGroupId`.',
      }),
      grants: json.list(
        json.object(
          {
            type: json.choice(['organization', 'folder', 'document'], 'Type of the resource.'),
            id: json.text('Id of the resource.'),
            accessRole,
          },
          { expiresAt },
        ),
        {
          description:
            'Grants of the group, ordered by expiry; only with `grants`. A page may have fewer items than requested.',
        },
      ),
    },
  ),
)

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
export const groupUserResults = json.map(
  json.object(
    {
      success: json.boolean('False: nothing was done for this user.'),
      organizationUserGroupId: json.text(),
      message: json.text('Result, or the reason of the failure.'),
    },
    { details: failureDetails },
  ),
  { description: 'By user id.' },
)

export const addedUserResults = {
  ...groupUserResults,
  additionalProperties: {
    ...groupUserResults.additionalProperties,
    properties: {
      ...groupUserResults.additionalProperties.properties,
      groupCreated: json.boolean('True: this call created the group; else absent.'),
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
