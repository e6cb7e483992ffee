import { readJson } from '../../base/json.ts'
import * as s from '../../base/schema.ts'
import { addressSchemas } from '../../model/address-schemas.ts'

/** Topic of messages about credentials that may no longer be valid. */
export const credentialsRevokedTopic = 'access.withdrawal'

const { tenant } = addressSchemas

/** Specifies the credentials whose validity must be checked again. */
const revokedSchema = s.variant('kind', [
  s.object({ kind: s.literal('authTokens'), tenant }),
  s.object({ kind: s.literal('domains'), tenant }),
  s.object({ kind: s.literal('mintingSecrets'), tenant }),
  s.object({ kind: s.literal('tokens'), tenant, userId: s.string }),
])
export type CredentialsRevoked = s.TypeOf<typeof revokedSchema>

export const encodeCredentialsRevoked = (withdrawal: CredentialsRevoked): Uint8Array =>
  Buffer.from(JSON.stringify(withdrawal))

/** Decodes a message that `encodeCredentialsRevoked` has encoded. @throws MalformedJsonError */
export const decodeCredentialsRevoked = (message: Uint8Array): CredentialsRevoked =>
  readJson(revokedSchema, message)
