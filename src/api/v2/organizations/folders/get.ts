import { answerFolders, folderAnswer, folderRecord, tooManyFolders } from '../../../folder-schema.ts'
import { operation } from '../../../operation.ts'
import { folderId, noFolder, organizationId } from '../../../resource-schema.ts'

export const getFolders = operation({
  path: '/v2/organizations/folders/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Read folders',
  description: 'All of the organization, or one with those below it down to a depth.',
  request: {
    type: 'object',
    required: ['organizationId'],
    properties: {
      organizationId,
      folderId: { ...folderId, description: 'Without it all folders.' },
      maxDepth: {
        type: 'integer',
        minimum: 1,
        default: 1,
        description: 'How many levels of subfolders; 1: those directly in the folder.',
      },
    },
  },
  response: { type: 'array', items: folderRecord },
  errors: [noFolder, tooManyFolders],
  async handler({ organizationId, folderId, maxDepth = 1 }, { caller, services }) {
    const scope = { ...caller.tenant, organizationId }
    const found =
      folderId === undefined
        ? await services.folders.all(scope)
        : [await services.folders.below(scope, folderId, maxDepth)]
    return {
      message: 'Folders found.',
      data: answerFolders(found, (folder) => folderAnswer(caller.tenant, organizationId, folder)),
    }
  },
})
