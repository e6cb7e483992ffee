import type { JWTPayload } from 'jose'
import { accessRoles } from '../../directory/store/records.ts'
import { isJsonObject } from '../../json.ts'
import { idProblem } from '../../model/address.ts'
import type { Identity, TokenGrant } from '../identity.ts'

/**
 * The claims of a realtime token, in addition to the registered claims `iss`, `sub`, `exp`, `iat` and `jti`.
 * Backends that have the secret may mint their own tokens. `ws` and `key` are required; `identityFromClaims`
 * defines the defaults of the other claims. For revocations, a token without `iat` counts as issued long ago.
 */
export interface Claims {
  /** Id of the workspace for which the token is valid. */
  readonly ws: string
  /** API key for which the token is valid. */
  readonly key: string
  readonly name: string
  readonly email: string
  readonly admin: boolean
  readonly grants?: readonly TokenGrant[]
}

/**
 * Returns the identity that the claims of a payload describe. Returns null if a claim is missing or has a
 * wrong type.
 */
export function identityFromClaims(payload: JWTPayload): Identity | null {
  const { sub, exp, iat = 0, ws, key, name = '', email = '', admin = false, grants = null } = payload
  if (exp === undefined || typeof iat !== 'number' || !isId(sub) || !isId(ws) || !isId(key)) return null
  if (typeof name !== 'string' || typeof email !== 'string' || typeof admin !== 'boolean') return null
  if (grants !== null && !(Array.isArray(grants) && grants.every(isGrant))) return null
  return {
    tenant: { workspaceId: ws, apiKey: key },
    userId: sub,
    name,
    email,
    admin,
    grants,
    issuedAt: Math.round(iat * 1000),
    expiresAt: exp * 1000,
  }
}

const isId = (value: unknown): value is string => idProblem(value) === null

function isGrant(value: unknown): value is TokenGrant {
  if (!isJsonObject(value)) return false
  const { type, id, organizationId, accessRole, expiresAt } = value
  return (
    (type === 'organization' || type === 'document' || type === 'folder') &&
    isId(id) &&
    isId(organizationId) &&
    accessRoles.some((role) => role === accessRole) &&
    (expiresAt === undefined || Number.isFinite(expiresAt))
  )
}
