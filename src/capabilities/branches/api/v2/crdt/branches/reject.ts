import { json } from '../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { contentErrors } from '../../../../../../rest/schemas/content-format.ts'
import { versionedAddress } from '../../../../../history/api/version-schema.ts'
import {
  branchDecided,
  branchedEditor,
  branchName,
  branchOutcome,
  decidingUser,
  hunkIds,
  noSuchBranchError,
  toOutcomeResponse,
} from '../../../branch-schema.ts'

export const rejectBranch = defineOperation({
  path: '/v2/crdt/branches/reject',
  auth: 'key',
  effect: 'repeatable',
  runsAt: 'owner',
  audited: 'change',
  summary: 'Reject a branch',
  description:
    'The branch is then read-only. Its content stays until the branch is deleted. With `hunks`, the branch stays ' +
    'open, and gets the content of the editor at the places of these hunks.',
  request: json.object({ ...branchedEditor, name: branchName, userId: decidingUser }, { hunks: hunkIds }),
  response: json.object(branchOutcome),
  errors: [
    ...contentErrors,
    noSuchBranchError,
    { ...branchDecided, when: 'the branch is merged, or it is rejected and the call has `hunks`' },
  ],
  async handler({ name, hunks, userId, ...editor }, { caller, services }) {
    const main = await versionedAddress(editor, caller, services)
    const outcome = await services.branches.reject(main, name, { userId, hunkIds: hunks })
    return { message: 'Branch rejected.', data: toOutcomeResponse(outcome) }
  },
})
