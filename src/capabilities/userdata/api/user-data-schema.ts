import type { KeyCaller } from '../../../core/access/credentials/authenticator.ts'
import { type FromSchema, json } from '../../../core/base/schema.ts'
import {
  dataKinds,
  type UserDataScope,
  type UserDatum,
} from '../../../core/directory/user-data/user-data-source.ts'
import { deletedUserId } from '../../../core/model/deleted-user.ts'
import { invalidAt } from '../../../rest/validator.ts'

/** Request members for a user, and optionally an organization. */
export const dataScope = {
  userId: json.id('Whose data.', { examples: ['ann'] }),
  organizationId: json.id('Only data of this organization; default: all organizations of the API key.'),
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

export const userDatums = json.list(
  json.object(
    {
      kind: json.choice(dataKinds, 'What it is.'),
      data: json.map(
        {},
        {
          description:
            'The stored record. Recipients of a notification, and users who react to a comment, are reduced to this user.',
        },
      ),
    },
    {
      organizationId: json.text('Absent without an organization.'),
      documentId: json.text('Absent without a document.'),
    },
  ),
)

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
