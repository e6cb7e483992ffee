import { readJson } from '../../base/json.ts'
import * as s from '../../base/schema.ts'
import type { Tenant } from '../../model/address.ts'
import { addressSchemas } from '../../model/address-schemas.ts'

/** Topic of messages about credentials that may no longer be valid. */
export const credentialsRevokedTopic = 'access.withdrawal'

/** Specifies the credentials whose validity must be checked again. */
export type CredentialsRevoked =
  | { readonly kind: 'authTokens'; readonly tenant: Tenant }
  | { readonly kind: 'domains'; readonly tenant: Tenant }
  | { readonly kind: 'mintingSecrets'; readonly tenant: Tenant }
  | { readonly kind: 'tokens'; readonly tenant: Tenant; readonly userId: string }

export const encodeCredentialsRevoked = (withdrawal: CredentialsRevoked): Uint8Array =>
  Buffer.from(JSON.stringify(withdrawal))

const { tenant } = addressSchemas

const revokedSchema = s.variant('kind', [
  s.object({ kind: s.literal('authTokens'), tenant }),
  s.object({ kind: s.literal('domains'), tenant }),
  s.object({ kind: s.literal('mintingSecrets'), tenant }),
  s.object({ kind: s.literal('tokens'), tenant, userId: s.string }),
])

/** Decodes a message that `encodeCredentialsRevoked` has encoded. @throws MalformedJsonError */
export const decodeCredentialsRevoked = (message: Uint8Array): CredentialsRevoked =>
  readJson(revokedSchema, message)
