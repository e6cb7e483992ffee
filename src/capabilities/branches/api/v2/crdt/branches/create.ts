import { json } from '../../../../../../core/base/schema.ts'
import { branchLimits } from '../../../../../../core/directory/branches/branch-records.ts'
import { disabledDocument, documentBeingDeleted } from '../../../../../../rest/editor-content.ts'
import { defineAgentOperation } from '../../../../../../rest/operation.ts'
import { contentErrors } from '../../../../../../rest/schemas/content-format.ts'
import { versionedAddress } from '../../../../../history/api/version-schema.ts'
import { branchedEditor, branchName, branchRecord, toBranchResponse } from '../../../branch-schema.ts'

export const createBranch = defineAgentOperation({
  path: '/v2/crdt/branches/create',
  agents: { role: 'suggester', ids: ['userId'] },
  effect: 'once',
  runsAt: 'owner',
  audited: 'change',
  grows: 'editors',
  creates: true,
  summary: 'Create a branch of an editor',
  description:
    'The branch starts with the content of the editor, and follows it: changes of the editor appear in the branch. ' +
    'Changes of the branch stay in the branch until it is merged. Clients open it like any editor.',
  request: json.object({
    ...branchedEditor,
    name: branchName,
    userId: json.id(
      'User who creates the branch; returned as `createdBy`. A suggester can write only own branches.',
    ),
  }),
  response: branchRecord,
  errors: [
    ...contentErrors,
    disabledDocument,
    documentBeingDeleted,
    { code: 'branch/invalid-name', when: 'the name is not valid' },
    {
      code: 'branch/exists',
      when: 'the editor has a branch with this name, or the editor id of the branch has content',
    },
    { code: 'branch/too-many', when: `the document has ${branchLimits.branches} branches` },
    { code: 'branch/of-branch', when: 'the editor is a branch itself' },
  ],
  async handler({ name, userId, ...editor }, { caller, services }) {
    const main = await versionedAddress(editor, caller, services)
    const branch = await services.branches.create(main, { name, userId })
    const data = toBranchResponse(branch)
    return { message: 'Branch created.', data, created: { editor: data.branchEditorId } }
  },
})
