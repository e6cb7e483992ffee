import type { Tenant } from '../model/address.ts'

/** A right on one resource, as a realtime token carries it. */
export interface TokenGrant {
  readonly type: 'organization' | 'document' | 'folder'
  readonly id: string
  /** Organization of the resource; for an organization, its own id. */
  readonly organizationId: string
  readonly accessRole: 'viewer' | 'editor'
  /** Epoch seconds. If absent, the grant expires with the token. */
  readonly expiresAt?: number
}

/** The user of a realtime connection, according to the token. */
export interface Identity {
  readonly tenant: Tenant
  readonly userId: string
  readonly name: string
  /** Empty if unknown. */
  readonly email: string
  /** True: the user is an editor on every document of the tenant. */
  readonly admin: boolean
  /** Null: the token does not restrict resources. */
  readonly grants: readonly TokenGrant[] | null
  /** Issue time of the token in epoch milliseconds; 0 if it has none, Infinity without authentication. */
  readonly issuedAt: number
  /** Expiry of the token in epoch milliseconds; Infinity without authentication. */
  readonly expiresAt: number
  /**
   * Id of the API key's minting secret that signed the token; absent if a secret of the server or an identity
   * provider signed it.
   */
  readonly mintingSecretId?: string
}

/** Returns the identity of all clients when authentication is disabled. It has all rights. */
export const anonymous = (tenant: Tenant): Identity => ({
  tenant,
  userId: 'anonymous',
  name: 'Anonymous',
  email: '',
  admin: true,
  grants: null,
  issuedAt: Number.POSITIVE_INFINITY,
  expiresAt: Number.POSITIVE_INFINITY,
})
