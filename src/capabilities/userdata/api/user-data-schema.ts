import type { KeyCaller } from '../../../core/access/credentials/authenticator.ts'
import type { FromSchema } from '../../../core/base/schema.ts'
import {
  dataKinds,
  type UserDataScope,
  type UserDatum,
} from '../../../core/directory/user-data/user-data-source.ts'
import { deletedUserId } from '../../../core/model/deleted-user.ts'
import { invalidAt } from '../../../rest/validator.ts'

/** Request members for a user, and optionally an organization. */
export const dataScope = {
  userId: { type: 'string', format: 'id', description: 'Whose data.', examples: ['ann'] },
  organizationId: {
    type: 'string',
    format: 'id',
    description: 'Only data of this organization; default: all organizations of the API key.',
  },
} as const

interface DataScope {
  readonly userId: string
  readonly organizationId?: string
}

/**
 * Returns the scope of a user's data.
 * @throws ApiError INVALID_ARGUMENT if the user id is the id that stands for all deleted users
 */
export function dataScopeOf({ userId, organizationId }: DataScope, { tenant }: KeyCaller): UserDataScope {
  if (userId === deletedUserId)
    throw invalidAt({ path: '/data/userId', message: 'stands for all users whose data was deleted' })
  const { workspaceId, apiKey } = tenant
  return { workspaceId, apiKey, organizationId: organizationId ?? null }
}

export const userDatums = {
  type: 'array',
  items: {
    type: 'object',
    required: ['kind', 'data'],
    properties: {
      kind: { type: 'string', enum: dataKinds, description: 'What it is.' },
      organizationId: { type: 'string', description: 'Absent without an organization.' },
      documentId: { type: 'string', description: 'Absent without a document.' },
      data: {
        type: 'object',
        additionalProperties: {},
        description:
          'The stored record. Recipients of a notification, and users who react to a comment, are reduced to this user.',
      },
    },
  },
} as const

export const toDatumResponse = ({
  kind,
  organizationId,
  documentId,
  data,
}: UserDatum): FromSchema<typeof userDatums>[number] => ({
  kind,
  ...(organizationId !== null && { organizationId }),
  ...(documentId !== null && { documentId }),
  data: { ...data },
})
