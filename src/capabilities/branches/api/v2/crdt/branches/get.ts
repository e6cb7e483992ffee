import { json } from '../../../../../../core/base/schema.ts'
import { editorAddress } from '../../../../../../rest/editor-content.ts'
import { defineAgentOperation } from '../../../../../../rest/operation.ts'
import {
  branchedEditor,
  branchName,
  branchRecord,
  noSuchBranchError,
  toBranchResponse,
} from '../../../branch-schema.ts'

export const getBranch = defineAgentOperation({
  path: '/v2/crdt/branches/get',
  agents: { role: 'viewer' },
  effect: 'reads',
  audited: 'read',
  summary: 'Read a branch',
  description: 'To read its content, call `/v2/crdt/get` with its `branchEditorId`.',
  request: json.object({ ...branchedEditor, name: branchName }),
  response: branchRecord,
  errors: [noSuchBranchError],
  async handler({ name, ...editor }, { caller, services }) {
    const branch = await services.branches.get(editorAddress(caller, editor), name)
    return { message: 'Branch found.', data: toBranchResponse(branch) }
  },
})
