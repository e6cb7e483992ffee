import type { AgentIdentity } from '../../core/access/credentials/agent-caller.ts'
import { roleWithinPolicies } from '../../core/access/roles/agent-role.ts'
import { type AccessRole, roleStrength } from '../../core/directory/store/records.ts'
import type { McpTool } from './tool.ts'
import { toolList } from './tools/tool-list.ts'

/** Returns the strongest role that a token can give on any document. The directory can give a weaker one. */
function strongestRole(identity: AgentIdentity): AccessRole | null {
  const { admin, grants } = identity
  if (admin || grants === null) return roleWithinPolicies(identity, 'editor')
  const strongest = grants.reduce<AccessRole | null>(
    (role, grant) => (roleStrength(grant.accessRole) > roleStrength(role) ? grant.accessRole : role),
    null,
  )
  return roleWithinPolicies(identity, strongest)
}

/**
 * Returns the tools that a token can use on some document. The role on the document of each call decides in
 * addition.
 */
export function permittedTools(identity: AgentIdentity): readonly McpTool[] {
  const strength = roleStrength(strongestRole(identity))
  return toolList.filter(({ role }) => roleStrength(role) <= strength)
}
