import { json } from '../../../../../../core/base/schema.ts'
import {
  disabledDocument,
  documentBeingDeleted,
  updateRequest,
  writtenResponse,
} from '../../../../../../rest/editor-content.ts'
import { defineOperation, warningsOf } from '../../../../../../rest/operation.ts'
import { contentErrors } from '../../../../../../rest/schemas/content-format.ts'
import { versionedAddress } from '../../../../../history/api/version-schema.ts'
import {
  branchDecided,
  branchedEditor,
  branchName,
  branchOutcome,
  branchOverlaps,
  decidingUser,
  hunkIds,
  noSuchBranchError,
  toOutcomeResponse,
  toOverlapsResponse,
} from '../../../branch-schema.ts'

const { dryRun, onOverlap } = updateRequest.properties
const { version, changed, bytes } = writtenResponse.properties

export const mergeBranch = defineOperation({
  path: '/v2/crdt/branches/merge',
  auth: 'key',
  effect: 'repeatable',
  runsAt: 'owner',
  audited: 'change',
  grows: 'content',
  warns: true,
  summary: 'Merge a branch',
  description:
    'Applies the changes of the branch to the editor, in one update; concurrent edits are merged. The branch is then ' +
    'read-only. With `hunks`, only these hunks are applied, as copies, and the branch stays open. The change has the source `branch` and the name of the branch in its `meta`. If the editor has a schema, ' +
    'the result must match it where it changes; `warnings` names older differences. Merging again changes nothing.',
  request: json.object(
    { ...branchedEditor, name: branchName, userId: decidingUser },
    {
      hunks: hunkIds,
      onOverlap: {
        ...onOverlap,
        description:
          'What happens if the editor has changed the same words or values as the hunks, since the branch was created. ' +
          '`report`, `keepMine`: the hunks are merged. `keepTheirs`: the hunks are rejected. `fail`: the call fails, and ' +
          'nothing changes. Default: `report`.',
      },
      dryRun,
    },
  ),
  response: json.object({ version, changed, bytes, ...branchOutcome }, { ...branchOverlaps }),
  errors: [
    ...contentErrors,
    noSuchBranchError,
    { ...branchDecided, when: 'the branch is rejected, or it is merged and the call has `hunks`' },
    {
      code: 'crdt/overlap',
      when: 'the editor has changed the same words or values, and `onOverlap` is `fail`',
    },
    disabledDocument,
    documentBeingDeleted,
  ],
  async handler(
    { name, hunks, userId, onOverlap: policy, dryRun: isDry, ...editor },
    { caller, services, full },
  ) {
    const main = await versionedAddress(editor, caller, services)
    const merged = await services.branches.merge(main, name, {
      userId,
      hunkIds: hunks,
      onOverlap: policy,
      dryRun: isDry,
      full,
      schema: () => services.schemas.of(main),
    })
    const { version: at, bytes: size } = merged
    const outcome = { ...toOutcomeResponse(merged), ...toOverlapsResponse(merged.overlaps) }
    const data = { version: at, changed: size > 0, bytes: size, ...outcome }
    return { message: 'Branch merged.', data, ...warningsOf(merged.warnings) }
  },
})
