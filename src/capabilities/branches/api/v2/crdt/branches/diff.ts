import { json } from '../../../../../../core/base/schema.ts'
import { hunkLimits } from '../../../../../../core/content/branches/branch-hunks.ts'
import { defineAgentOperation } from '../../../../../../rest/operation.ts'
import { contentErrors } from '../../../../../../rest/schemas/content-format.ts'
import { versionedAddress } from '../../../../../history/api/version-schema.ts'
import {
  branchedEditor,
  branchHunk,
  branchName,
  branchOverlaps,
  branchRecord,
  noSuchBranchError,
  toBranchResponse,
  toHunkResponse,
  toOverlapsResponse,
} from '../../../branch-schema.ts'

export const diffBranch = defineAgentOperation({
  path: '/v2/crdt/branches/diff',
  agents: { role: 'viewer' },
  effect: 'reads',
  runsAt: 'owner',
  audited: 'read',
  summary: 'Compare a branch with its editor',
  description:
    'Returns the changes of the branch as hunks, in the order of the document. Adjacent changes are one hunk, so that ' +
    'hunks can be decided in any order.',
  request: json.object({ ...branchedEditor, name: branchName }),
  response: json.object(
    {
      branch: branchRecord,
      hunks: json.list(branchHunk),
      truncated: json.boolean(
        `True if the branch has more than ${hunkLimits.hunks} hunks; the others are left out.`,
      ),
    },
    { ...branchOverlaps },
  ),
  errors: [...contentErrors, noSuchBranchError],
  async handler({ name, ...editor }, { caller, services }) {
    const main = await versionedAddress(editor, caller, services)
    const { branch, hunks, overlaps, truncated } = await services.branches.diff(main, name)
    return {
      message: `${hunks.length} hunks found.`,
      data: {
        branch: toBranchResponse(branch),
        hunks: hunks.map(toHunkResponse),
        truncated,
        ...toOverlapsResponse(overlaps),
      },
    }
  },
})
