import { type AccessRole, roleStrength } from '../../directory/store/records.ts'
import type { AgentTraits, Identity } from '../identity.ts'

/** The strongest role that the policies of an agent permit. */
function roleMaxOf({ policies }: AgentTraits): AccessRole {
  if (policies.includes('read-only')) return 'viewer'
  return policies.includes('suggest-only') ? 'suggester' : 'editor'
}

const weaker = (a: AccessRole | null, b: AccessRole): AccessRole | null =>
  roleStrength(a) < roleStrength(b) ? a : b

/** Returns a role as the policies of an agent limit it. The role of a person stays as it is. */
export const roleWithinPolicies = (
  { agent }: Pick<Identity, 'agent'>,
  role: AccessRole | null,
): AccessRole | null => (agent === null ? role : weaker(role, roleMaxOf(agent)))

/** Returns whether the policies of an identity forbid it to delete content. */
export const mustKeepContent = ({ agent }: Pick<Identity, 'agent'>): boolean =>
  agent?.policies.includes('no-delete') === true

/**
 * Returns the role of an identity on a websocket. An agent that must not delete content is a viewer there: the updates
 * of a client can delete anything, and the server accepts them as they are.
 */
export const roleOnSocket = (
  identity: Pick<Identity, 'agent'>,
  role: AccessRole | null,
): AccessRole | null => (mustKeepContent(identity) ? weaker(role, 'viewer') : role)
