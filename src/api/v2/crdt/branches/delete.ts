import { branchedEditor, branchName, noSuchBranchError } from '../../../branch-schema.ts'
import { documentBeingDeleted, editorAddress } from '../../../editor-content.ts'
import { defineOperation } from '../../../operation.ts'

export const deleteBranch = defineOperation({
  path: '/v2/crdt/branches/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete a branch',
  description:
    'Deletes the content of the branch, its saved versions and its record, in any status. The editor stays unchanged. ' +
    'Connections to the branch are closed.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'editorId', 'name'],
    properties: { ...branchedEditor, name: branchName },
  },
  response: null,
  errors: [noSuchBranchError, documentBeingDeleted],
  async handler({ name, ...editor }, { caller, services }) {
    await services.branches.delete(editorAddress(caller, editor), name)
    return { message: 'Branch deleted.', data: undefined }
  },
})
