import type { Tenant } from '../../model/address.ts'

/** The topic on which is told that credentials that were good may no longer be. */
export const credentialsRevokedTopic = 'access.withdrawal'

/** Whose credentials have to be looked at again. */
export type CredentialsRevoked =
  | { readonly kind: 'domains'; readonly tenant: Tenant }
  | { readonly kind: 'mintingSecrets'; readonly tenant: Tenant }
  | { readonly kind: 'tokens'; readonly tenant: Tenant; readonly userId: string }

export const encodeCredentialsRevoked = (withdrawal: CredentialsRevoked): Uint8Array =>
  Buffer.from(JSON.stringify(withdrawal))

/** What `encodeCredentialsRevoked` was given. */
export const decodeCredentialsRevoked = (message: Uint8Array): CredentialsRevoked =>
  JSON.parse(Buffer.from(message).toString()) as CredentialsRevoked
