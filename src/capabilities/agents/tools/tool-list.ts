import type { AgentIdentity } from '../../../core/access/credentials/authenticator.ts'
import { roleWithinPolicies } from '../../../core/access/roles/roles.ts'
import { type AccessRole, roleStrength } from '../../../core/directory/store/records.ts'
import type { McpTool } from '../tool.ts'
import { commentTool } from './comment.ts'
import { editDocumentTool } from './edit-document.ts'
import { listChangesTool } from './list-changes.ts'
import { listDocumentsTool } from './list-documents.ts'
import { readDocumentTool } from './read-document.ts'
import { searchTool } from './search.ts'
import { suggestTool } from './suggest.ts'
import { undoMyChangesTool } from './undo-my-changes.ts'

/** All tools, in the order in which clients get them. */
export const toolList: readonly McpTool[] = [
  listDocumentsTool,
  searchTool,
  readDocumentTool,
  editDocumentTool,
  suggestTool,
  commentTool,
  listChangesTool,
  undoMyChangesTool,
]

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
