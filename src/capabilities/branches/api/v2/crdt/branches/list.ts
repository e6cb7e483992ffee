import { json } from '../../../../../../core/base/schema.ts'
import type { PageRange } from '../../../../../../core/directory/store/list-page.ts'
import { defineAgentOperation } from '../../../../../../rest/operation.ts'
import { answerPage, pageRequest } from '../../../../../../rest/paging/page-request.ts'
import { contentErrors } from '../../../../../../rest/schemas/content-format.ts'
import { versionedAddress } from '../../../../../history/api/version-schema.ts'
import { branchedEditor, branchRecord, toBranchResponse } from '../../../branch-schema.ts'

export const listBranches = defineAgentOperation({
  path: '/v2/crdt/branches/list',
  agents: { role: 'viewer' },
  effect: 'reads',
  audited: 'read',
  summary: 'List the branches of an editor',
  description: 'Open and decided branches, in the order of their names, without their content.',
  request: json.object({ ...branchedEditor }, { ...pageRequest }),
  response: json.list(branchRecord),
  errors: contentErrors,
  async handler(data, context) {
    const main = await versionedAddress(data, context.caller, context.services)
    const query = ['branches', main.organizationId, main.documentId, main.editorId]
    const list = (range: PageRange) => context.services.branches.list(main, range)
    return answerPage(context, query, data, list, ['branches', toBranchResponse])
  },
})
