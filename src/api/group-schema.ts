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
