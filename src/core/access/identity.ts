import type { AgentRestrictions } from '../config/agent-policies.ts'
import type { AccessRole } from '../directory/store/records.ts'
import type { Tenant } from '../model/address.ts'
import type { ChangeMeta } from '../model/change-origin.ts'

/** A right on one resource that a realtime token grants. */
export interface TokenGrant {
  readonly type: 'organization' | 'document' | 'folder'
  readonly id: string
  /** Organization that contains the resource. If the resource is an organization, its own id. */
  readonly organizationId: string
  readonly accessRole: AccessRole
  /** Expiry in epoch seconds. If absent, the grant expires together with the token. */
  readonly expiresAt?: number
}

/** A program that acts by itself, such as a language model, as the token describes it. */
export interface AgentTraits extends AgentRestrictions {
  /** Name of the model, for people who read the history; null if it is unknown. */
  readonly model: string | null
  /** Id of the user for whom the agent acts; null if there is none. The agent does not get the rights of this user. */
  readonly onBehalfOf: string | null
}

/** The user of a realtime connection, as the token describes the user. */
export interface Identity {
  readonly tenant: Tenant
  readonly userId: string
  readonly name: string
  /** Email address of the user; empty if it is unknown. */
  readonly email: string
  /** If true, the user is an editor on every document of the tenant. */
  readonly admin: boolean
  /** Rights that the token grants. Null: the token does not restrict the rights of the user. */
  readonly grants: readonly TokenGrant[] | null
  /** Set if the user is an agent; null for people. */
  readonly agent: AgentTraits | null
  /**
   * Issue time of the token in epoch milliseconds. 0 if the token has no issue time; Infinity if
   * authentication is disabled.
   */
  readonly issuedAt: number
  /**
   * The last revocations of the users of the token when the server issued it, as `revocationsOf` returns them. Absent
   * if a backend or an identity provider issued the token: then the issue time decides about revocations.
   */
  readonly revocations?: string
  /** Expiry of the token in epoch milliseconds. Infinity if authentication is disabled. */
  readonly expiresAt: number
  /**
   * Id of the minting secret that signed the token. Absent if a secret of the server or an identity provider
   * signed the token.
   */
  readonly mintingSecretId?: string
}

/**
 * Returns the identity that all clients have when authentication is disabled. This identity has all rights.
 */
export const anonymous = (tenant: Tenant): Identity => ({
  tenant,
  userId: 'anonymous',
  name: 'Anonymous',
  email: '',
  admin: true,
  grants: null,
  agent: null,
  issuedAt: Number.POSITIVE_INFINITY,
  expiresAt: Number.POSITIVE_INFINITY,
})

/** Names of the members that the server sets in the data of the changes of an agent. */
export const agentMetaNames = ['model', 'onBehalfOf'] as const

/** Returns the data that all changes of an agent have; empty if its token describes nothing. */
export const agentMeta = (agent: AgentTraits): ChangeMeta =>
  Object.fromEntries(agentMetaNames.flatMap((name) => (agent[name] === null ? [] : [[name, agent[name]]])))
