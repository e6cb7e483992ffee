import * as v from 'valibot'
import { readJson } from '../../json.ts'
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

const revokedSchema = v.variant('kind', [
  v.looseObject({ kind: v.literal('authTokens'), tenant }),
  v.looseObject({ kind: v.literal('domains'), tenant }),
  v.looseObject({ kind: v.literal('mintingSecrets'), tenant }),
  v.looseObject({ kind: v.literal('tokens'), tenant, userId: v.string() }),
])

/** Decodes a message that `encodeCredentialsRevoked` has encoded. @throws MalformedJsonError */
export const decodeCredentialsRevoked = (message: Uint8Array): CredentialsRevoked =>
  readJson(revokedSchema, message)
