import type { AgentCaller } from '../../../../../../core/access/credentials/authenticator.ts'
import { ApiError } from '../../../../../../core/base/errors.ts'
import { json } from '../../../../../../core/base/schema.ts'
import type { BranchRecord } from '../../../../../../core/directory/branches/branch-records.ts'
import { keepingOf } from '../../../../../../rest/agents/authorize-agent.ts'
import { documentBeingDeleted, editorAddress } from '../../../../../../rest/editor-content.ts'
import { defineAgentOperation } from '../../../../../../rest/operation.ts'
import { branchedEditor, branchName, noSuchBranchError } from '../../../branch-schema.ts'

export const deleteBranch = defineAgentOperation({
  path: '/v2/crdt/branches/delete',
  agents: { role: 'suggester' },
  effect: 'once',
  runsAt: 'owner',
  audited: 'admin',
  summary: 'Delete a branch',
  description:
    'Deletes the content of the branch, its saved versions and its record, in any status. The editor stays unchanged. ' +
    'Connections to the branch are closed. `/v2/workspace/deleted/restore` restores it.',
  request: json.object({ ...branchedEditor, name: branchName }),
  response: null,
  errors: [noSuchBranchError, documentBeingDeleted],
  async handler({ name, ...editor }, { caller, services }) {
    const main = editorAddress(caller, editor)
    const forbidden = keepingOf(caller)
    if (forbidden !== null && (await services.branches.diff(main, name)).hunks.length > 0) throw forbidden
    const check = caller.level === 'agent' ? requireOwn(caller) : undefined
    await services.branches.delete(main, name, check)
    return { message: 'Branch deleted.', data: undefined }
  },
})

/** Returns a check that throws for a branch that the agent has not created. */
const requireOwn =
  ({ identity }: AgentCaller) =>
  ({ createdBy }: BranchRecord): void => {
    if (createdBy !== identity.userId)
      throw new ApiError(
        'agent/other-user',
        'another user has created the branch; an agent deletes only its own',
      )
  }
