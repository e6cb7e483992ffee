import { json } from '../../../../core/base/schema.ts'
import type { FolderView } from '../../../../core/directory/documents/folder-views.ts'
import { defineOperation } from '../../../operation.ts'
import {
  answerAllFolders,
  answerTree,
  folderAnswer,
  folderRecord,
  tooManyFolders,
} from '../../../schemas/folder-schema.ts'
import { folderErrors, organizationId } from '../../../schemas/resource-schema.ts'

export const getFolders = defineOperation({
  path: '/v2/organizations/folders/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Read folders',
  description: 'Returns all folders of the organization, or one folder with its subfolders down to a depth.',
  request: json.object(
    { organizationId },
    {
      folderId: json.id('Default: all folders.'),
      maxDepth: json.integer('Levels of subfolders; 0: no subfolders, 1: only direct subfolders.', {
        minimum: 0,
        default: 1,
      }),
    },
  ),
  response: json.list(folderRecord),
  errors: [...folderErrors, tooManyFolders],
  async handler({ organizationId, folderId, maxDepth = 1 }, { caller, services }) {
    const scope = { ...caller.tenant, organizationId }
    const answerOf = (folder: FolderView) => folderAnswer(caller.tenant, organizationId, folder)
    if (folderId === undefined)
      return {
        message: 'Folders found.',
        data: answerAllFolders(await services.folders.all(scope), answerOf),
      }
    const found = await services.folders.below(scope, folderId, maxDepth)
    return { message: 'Folders found.', data: [answerTree(found, answerOf)] }
  },
})
