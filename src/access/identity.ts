import type { Tenant } from '../model/address.ts'

/** A right on one resource, as a realtime token carries it. */
export interface TokenGrant {
  readonly type: 'organization' | 'document' | 'folder'
  readonly id: string
  /** Of an organization its own id. */
  readonly organizationId: string
  readonly accessRole: 'viewer' | 'editor'
  /** Epoch seconds; without it the grant ends with the token. */
  readonly expiresAt?: number
}

/** Who is at the other end of a realtime connection, as vouched for by a token. */
export interface Identity {
  readonly tenant: Tenant
  readonly userId: string
  readonly name: string
  /** '' when unknown. */
  readonly email: string
  /** Editor on every document of the tenant. */
  readonly admin: boolean
  /** Null: the token says nothing about resources. */
  readonly grants: readonly TokenGrant[] | null
  /** Epoch milliseconds at which the token was issued; 0 when it does not say, Infinity without authentication. */
  readonly issuedAt: number
  /** Epoch milliseconds; Infinity without authentication. */
  readonly expiresAt: number
  /** Id of the API key's own secret that signed the token; absent if a secret of the server or a provider signed it. */
  readonly mintingSecretId?: string
}

/** Everybody, where authentication is switched off: may do everything. */
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
