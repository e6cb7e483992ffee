import type { JWTPayload } from 'jose'
import { type AgentPolicy, agentPolicies } from '../../config/agent-policies.ts'
import { accessRoles } from '../../directory/store/records.ts'
import { isJsonObject } from '../../json.ts'
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

/**
 * Returns the identity that the claims of a payload describe. Returns null if a claim is missing or has a
 * wrong type.
 */
export function identityFromClaims(payload: JWTPayload): Identity | null {
  const { sub, exp, iat = 0, ws, key, name = '', email = '', admin = false, grants = null, rev } = payload
  const agent = payload.agent === undefined ? null : agentFromClaim(payload.agent)
  // An agent has the rights of its grants, so it is never an admin.
  if (agent === 'invalid' || (agent !== null && admin !== false)) return null
  if (exp === undefined || typeof iat !== 'number' || !isId(sub) || !isId(ws) || !isId(key)) return null
  if (typeof name !== 'string' || typeof email !== 'string' || typeof admin !== 'boolean') return null
  if (rev !== undefined && typeof rev !== 'string') return null
  if (grants !== null && !(Array.isArray(grants) && grants.every(isGrant))) return null
  return {
    tenant: { workspaceId: ws, apiKey: key },
    userId: sub,
    name,
    email,
    admin,
    grants,
    agent,
    issuedAt: Math.round(iat * 1000),
    ...(rev !== undefined && { revocations: rev }),
    expiresAt: exp * 1000,
  }
}

/** Names of the members of the claim. A misspelled `policy` must not give an agent more rights. */
const agentMembers: readonly string[] = ['model', 'onBehalfOf', 'policy']

function agentFromClaim(claim: unknown): AgentTraits | 'invalid' {
  if (!isJsonObject(claim) || !Object.keys(claim).every((name) => agentMembers.includes(name)))
    return 'invalid'
  const { model = null, onBehalfOf = null, policy: given = null } = claim
  const policy = agentPolicies.find((each) => each === given) ?? null
  const isModel = model === null || (typeof model === 'string' && model.length <= agentClaimLimits.model)
  const isUser = onBehalfOf === null || (isId(onBehalfOf) && onBehalfOf.length <= agentClaimLimits.onBehalfOf)
  if (!isModel || !isUser || policy !== given) return 'invalid'
  return { model, onBehalfOf, policies: policy === null ? [] : [policy] }
}

/** Returns the claim from which `identityFromClaims` restores an agent. */
export const toAgentClaim = ({ model, onBehalfOf, policies: [policy] }: AgentTraits): AgentClaim => ({
  ...(model !== null && { model }),
  ...(onBehalfOf !== null && { onBehalfOf }),
  ...(policy !== undefined && { policy }),
})

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
