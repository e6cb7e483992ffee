import {
  branchDecided,
  branchedEditor,
  branchName,
  branchRecord,
  decidingUser,
  noSuchBranchError,
  toBranchResponse,
} from '../../../branch-schema.ts'
import { documentBeingDeleted, updateRequest, writtenResponse } from '../../../editor-content.ts'
import { defineOperation } from '../../../operation.ts'
import { noSuchContent, versionedAddress } from '../../../schemas/version-schema.ts'

const { dryRun } = updateRequest.properties
const { version, changed, bytes } = writtenResponse.properties

export const mergeBranch = defineOperation({
  path: '/v2/crdt/branches/merge',
  auth: 'key',
  effect: 'repeatable',
  audited: 'change',
  grows: 'content',
  summary: 'Merge a branch',
  description:
    'Applies the changes of the branch to the editor, in one update; concurrent edits are merged. The branch is then ' +
    'read-only. The change has the source `branch` and the name of the branch in its `meta`. If the editor has a schema, ' +
    'the result must match it. Merging again changes nothing.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'editorId', 'name', 'userId'],
    properties: { ...branchedEditor, name: branchName, userId: decidingUser, dryRun },
  },
  response: {
    type: 'object',
    required: ['version', 'changed', 'bytes', 'branch'],
    properties: { version, changed, bytes, branch: branchRecord },
  },
  errors: [
    noSuchContent,
    noSuchBranchError,
    { ...branchDecided, when: 'the branch is rejected' },
    { status: 'FAILED_PRECONDITION', code: 'document/disabled', when: 'the document is disabled' },
    documentBeingDeleted,
  ],
  async handler({ name, userId, dryRun: isDry, ...editor }, { caller, services, full }) {
    const main = await versionedAddress(editor, caller, services)
    const merged = await services.branches.merge(main, name, {
      userId,
      dryRun: isDry,
      full,
      schema: () => services.schemas.of(main),
    })
    const { version: at, bytes: size } = merged
    const branch = toBranchResponse(merged.branch)
    return { message: 'Branch merged.', data: { version: at, changed: size > 0, bytes: size, branch } }
  },
})
