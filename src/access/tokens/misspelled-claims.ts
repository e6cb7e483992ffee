import type { JWTPayload } from 'jose'
import { misspelledName, shortened } from '../../text.ts'

/** A claim that Weft does not read, and the missing claim that was most likely meant. */
export interface MisspelledClaim {
  readonly given: string
  readonly intended: string
}

/**
 * Claims of RFC 7519, OpenID Connect Core 5.1, RFC 9068 and common identity providers, and other names that
 * resemble a claim of Weft. None of them counts as a misspelling.
 */
const knownClaims = new Set(
  [
    'iss sub aud exp nbf iat jti azp amr acr nonce auth_time at_hash c_hash sid events typ act may_act cnf',
    'name given_name family_name middle_name nickname preferred_username profile picture website email',
    'email_verified gender birthdate zoneinfo locale phone_number phone_number_verified address updated_at',
    'scope scopes scp client_id roles role groups group entitlements permissions authorities realm_access',
    'resource_access tid oid upn ver appid emails mail domain tenant tenants org_id orgs organization plan plans',
    'admins is_admin isAdmin admin_id ws key admin grants',
  ].flatMap((names) => names.split(' ')),
)

/** Minimum length of a name to compare. Shorter names resemble too many others. */
const comparedLengthMin = 5
/** Maximum number of claims of a token that are compared. */
const comparedMax = 100

/** Returns the first claim that misspells a missing one of the claims `read`; null if there is none. */
export function findMisspelledClaim(payload: JWTPayload, read: readonly string[]): MisspelledClaim | null {
  const missing = read.filter((name) => name.length >= comparedLengthMin && !Object.hasOwn(payload, name))
  if (missing.length === 0) return null
  for (const given of Object.keys(payload).slice(0, comparedMax)) {
    if (given.length < comparedLengthMin || knownClaims.has(given)) continue
    const intended = misspelledName(given, missing)
    if (intended !== null) return { given, intended }
  }
  return null
}

const shownLengthMax = 30

/** Returns a description of the claim for people. */
export const describeClaim = ({ given, intended }: MisspelledClaim): string =>
  `the token has an unknown claim ${JSON.stringify(shortened(given, shownLengthMax))} (did you mean ${JSON.stringify(intended)}?)`

/** The optional claims of Weft's own tokens whose names are long enough to compare. */
const ownClaims = ['grants', 'admin', 'email', 'permissions']

/**
 * Describes a claim that most likely means one of Weft's own; returns null if there is none. Such a claim is
 * a misspelled one, or `permissions`: the REST API uses this name for the `grants` of a token. A token
 * without `grants` gives all permissions of its user.
 */
export function describeMisspelledClaim(payload: JWTPayload): string | null {
  const misspelled = Object.hasOwn(payload, 'permissions')
    ? { given: 'permissions', intended: 'grants' }
    : findMisspelledClaim(payload, ownClaims)
  if (misspelled === null) return null
  const intended = misspelled.intended === 'permissions' ? 'grants' : misspelled.intended
  return Object.hasOwn(payload, intended) ? null : describeClaim({ given: misspelled.given, intended })
}
