import type { Tenant } from '../../model/address.ts'
import type { AgentTraits, Identity } from '../identity.ts'

export type AgentIdentity = Identity & { readonly agent: AgentTraits }

/**
 * An agent with a valid token. It may do what its rights on a document permit, and only with operations that are open
 * to agents.
 */
export interface AgentCaller {
  readonly level: 'agent'
  readonly tenant: Tenant
  readonly identity: AgentIdentity
  /** Origin of the page that sends the call; undefined if the client is not a page. */
  readonly origin: string | undefined
}
