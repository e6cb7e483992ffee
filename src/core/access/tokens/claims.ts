import type { JWTPayload } from 'jose'
import * as s from '../../base/schema.ts'
import { misspelledName, shortened } from '../../base/text.ts'
import { matchesSchema } from '../../base/validation.ts'
import { type AgentPolicy, agentPolicies } from '../../config/agent-policies.ts'
import { accessRoles } from '../../directory/store/records.ts'
import { idProblem } from '../../model/address.ts'
import type { AgentTraits, Identity, TokenGrant } from '../identity.ts'

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
  /** As `Identity.revocations`. Only tokens that a server has issued have this claim. */
  readonly rev?: string
  readonly grants?: readonly TokenGrant[]
  /** Present if the user of the token is an agent. */
  readonly agent?: AgentClaim
}

/** The claim that describes an agent. All its members are optional. */
interface AgentClaim {
  /** Name of the model, within `agentClaimLimits`, as `onBehalfOf`. */
  readonly model?: string
  readonly onBehalfOf?: string
  readonly policy?: AgentPolicy
  readonly protected?: readonly string[]
}

/** Maximum characters of the members of the claim. The data of a change must be able to contain them. */
export const agentClaimLimits = { model: 200, onBehalfOf: 256, protectedNames: 20, nameLength: 100 } as const

const id = s.checked(s.string, (text) => idProblem(text) === null)

const areProtectedNames = (names: readonly string[]): boolean =>
  names.length <= agentClaimLimits.protectedNames &&
  names.every(({ length }) => length > 0 && length <= agentClaimLimits.nameLength)

/** Has no further members: a misspelled `policy` must not give an agent more rights. */
const agentSchema = s.exactObject(
  {},
  {
    model: s.orNull(s.checked(s.string, ({ length }) => length <= agentClaimLimits.model)),
    onBehalfOf: s.orNull(s.checked(id, ({ length }) => length <= agentClaimLimits.onBehalfOf)),
    policy: s.orNull(s.choice(agentPolicies)),
    protected: s.orNull(s.checked(s.array(s.string), areProtectedNames)),
  },
)

const grantSchema: s.SchemaOf<TokenGrant> = s.object(
  {
    type: s.choice(['organization', 'document', 'folder']),
    id,
    organizationId: id,
    accessRole: s.choice(accessRoles),
  },
  { expiresAt: s.number },
)

const claimsSchema = s.object(
  { sub: id, exp: s.number, ws: id, key: id },
  {
    iat: s.number,
    name: s.string,
    email: s.string,
    admin: s.boolean,
    rev: s.string,
    grants: s.orNull(s.array(grantSchema)),
    agent: agentSchema,
  },
)

/**
 * Returns the identity that the claims of a payload describe. Returns null if a claim is missing or has a
 * wrong type.
 */
export function identityFromClaims(payload: JWTPayload): Identity | null {
  if (!matchesSchema(claimsSchema, payload)) return null
  const { sub, exp, iat = 0, ws, key, name = '', email = '', admin = false, grants = null, rev } = payload
  const { agent } = payload
  // An agent has the rights of its grants, so it is never an admin.
  if (agent !== undefined && admin) return null
  return {
    tenant: { workspaceId: ws, apiKey: key },
    userId: sub,
    name,
    email,
    admin,
    grants,
    agent: agent === undefined ? null : agentFromClaim(agent),
    issuedAt: Math.round(iat * 1000),
    ...(rev !== undefined && { revocations: rev }),
    expiresAt: exp * 1000,
  }
}

function agentFromClaim(claim: s.TypeOf<typeof agentSchema>): AgentTraits {
  const { model = null, onBehalfOf = null, policy = null, protected: names = null } = claim
  const policies = policy === null ? [] : [policy]
  return { model, onBehalfOf, policies, ...(names !== null && { protected: names }) }
}

/** Returns the claim from which `identityFromClaims` restores an agent. */
export const toAgentClaim = ({
  model,
  onBehalfOf,
  policies: [policy],
  protected: names,
}: AgentTraits): AgentClaim => ({
  ...(model !== null && { model }),
  ...(onBehalfOf !== null && { onBehalfOf }),
  ...(policy !== undefined && { policy }),
  ...(names !== undefined && { protected: names }),
})

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
