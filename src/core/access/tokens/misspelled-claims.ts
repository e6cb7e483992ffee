import type { JWTPayload } from 'jose'
import { misspelledName, shortened } from '../../base/text.ts'

/** A claim that Weft does not know, and the missing claim that was probably meant. */
export interface MisspelledClaim {
  readonly given: string
  readonly intended: string
}

/**
 * Known names that are not misspellings: the claims of RFC 7519, OpenID Connect Core 5.1, RFC 9068 and common
 * identity providers, and other names that resemble a claim of Weft.
 */
const knownClaims = new Set(
  [
    'iss sub aud exp nbf iat jti azp amr acr nonce auth_time at_hash c_hash sid events typ act may_act cnf',
    'name given_name family_name middle_name nickname preferred_username profile picture website email',
    'email_verified gender birthdate zoneinfo locale phone_number phone_number_verified address updated_at',
    'scope scopes scp client_id roles role groups group entitlements permissions authorities realm_access',
    'resource_access tid oid upn ver appid emails mail domain tenant tenants org_id orgs organization plan plans',
    'admins is_admin isAdmin admin_id ws key admin grants agent rev',
  ].flatMap((names) => names.split(' ')),
)

/** Minimum length of the names that are compared. Shorter names resemble too many other names. */
const comparedLengthMin = 5
/** Maximum number of claims of one token that are compared. */
const comparedMax = 100

/**
 * Returns the first claim of the token that is probably a misspelling. `read` contains the claims that the
 * server reads; the misspelled one is missing in the token. Returns null if there is no such claim.
 */
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

/** Returns a sentence that describes the claim, for an operator. */
export const describeClaim = ({ given, intended }: MisspelledClaim): string =>
  `the token has an unknown claim ${JSON.stringify(shortened(given, shownLengthMax))} (did you mean ${JSON.stringify(intended)}?)`

/** The optional claims of Weft's own tokens whose names are long enough to be compared. */
const ownClaims = ['grants', 'admin', 'email', 'permissions', 'agent']

/**
 * Returns a description of a claim that was probably meant to be one of Weft's own claims; null if there is
 * none. Such a claim is either misspelled, or it is `permissions`, the name that the REST API uses for the
 * claim `grants`. The problem must be reported, because a token without `grants` gives all permissions of its
 * user.
 */
export function describeMisspelledClaim(payload: JWTPayload): string | null {
  const misspelled = Object.hasOwn(payload, 'permissions')
    ? { given: 'permissions', intended: 'grants' }
    : findMisspelledClaim(payload, ownClaims)
  if (misspelled === null) return null
  const intended = misspelled.intended === 'permissions' ? 'grants' : misspelled.intended
  return Object.hasOwn(payload, intended) ? null : describeClaim({ given: misspelled.given, intended })
}
