import {
  branchDecided,
  branchedEditor,
  branchName,
  branchRecord,
  decidingUser,
  noSuchBranchError,
  toBranchResponse,
} from '../../../branch-schema.ts'
import { editorAddress } from '../../../editor-content.ts'
import { defineOperation } from '../../../operation.ts'

export const rejectBranch = defineOperation({
  path: '/v2/crdt/branches/reject',
  auth: 'key',
  effect: 'repeatable',
  audited: 'change',
  summary: 'Reject a branch',
  description: 'The branch is then read-only. Its content stays until the branch is deleted.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'editorId', 'name', 'userId'],
    properties: { ...branchedEditor, name: branchName, userId: decidingUser },
  },
  response: branchRecord,
  errors: [noSuchBranchError, { ...branchDecided, when: 'the branch is merged' }],
  async handler({ name, userId, ...editor }, { caller, services }) {
    const branch = await services.branches.reject(editorAddress(caller, editor), name, userId)
    return { message: 'Branch rejected.', data: toBranchResponse(branch) }
  },
})
