import { answerFolders, folderAnswerV1, folderRecordV1, tooManyFolders } from '../../../folder-schema.ts'
import { operation } from '../../../operation.ts'
import { folderId, noFolder, organizationId } from '../../../resource-schema.ts'

export const getFoldersV1 = operation({
  path: '/v1/organizations/folders/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Read folders (version 1)',
  description: 'All of the organization, or one with the folders directly in it.',
  request: {
    type: 'object',
    required: ['organizationId'],
    properties: { organizationId, folderId: { ...folderId, description: 'Without it all folders.' } },
  },
  response: { type: 'array', items: folderRecordV1 },
  errors: [noFolder, tooManyFolders],
  async handler({ organizationId, folderId }, { caller, services }) {
    const scope = { ...caller.tenant, organizationId }
    const found =
      folderId === undefined
        ? await services.folders.all(scope)
        : [await services.folders.below(scope, folderId, 1)]
    return {
      message: 'Folders found.',
      data: answerFolders(found, (folder) => folderAnswerV1(organizationId, folder)),
    }
  },
})
