import type { JWTPayload } from 'jose'
import * as s from '../../base/schema.ts'
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
}

/** Maximum characters of the members of the claim. The data of a change must be able to contain them. */
export const agentClaimLimits = { model: 200, onBehalfOf: 256 } as const

const id = s.checked(s.string, (text) => idProblem(text) === null)

/** Has no further members: a misspelled `policy` must not give an agent more rights. */
const agentSchema = s.exactObject(
  {},
  {
    model: s.orNull(s.checked(s.string, ({ length }) => length <= agentClaimLimits.model)),
    onBehalfOf: s.orNull(s.checked(id, ({ length }) => length <= agentClaimLimits.onBehalfOf)),
    policy: s.orNull(s.choice(agentPolicies)),
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
  const { model = null, onBehalfOf = null, policy = null } = claim
  return { model, onBehalfOf, policies: policy === null ? [] : [policy] }
}

/** Returns the claim from which `identityFromClaims` restores an agent. */
export const toAgentClaim = ({ model, onBehalfOf, policies: [policy] }: AgentTraits): AgentClaim => ({
  ...(model !== null && { model }),
  ...(onBehalfOf !== null && { onBehalfOf }),
  ...(policy !== undefined && { policy }),
})
