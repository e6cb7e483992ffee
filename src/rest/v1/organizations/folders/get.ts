import { json } from '../../../../core/base/schema.ts'
import type { FolderView } from '../../../../core/directory/documents/folder-views.ts'
import { defineOperation } from '../../../operation.ts'
import {
  answerAllFolders,
  answerTree,
  folderAnswerV1,
  folderRecordV1,
  tooManyFolders,
} from '../../../schemas/folder-schema.ts'
import { folderErrors, organizationId } from '../../../schemas/resource-schema.ts'

export const getFoldersV1 = defineOperation({
  path: '/v1/organizations/folders/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Read folders (version 1)',
  description: 'Returns all folders of the organization, or one folder with its direct subfolders.',
  request: json.object(
    { organizationId },
    {
      folderId: json.id('Default: all folders.'),
    },
  ),
  response: json.list(folderRecordV1),
  errors: [...folderErrors, tooManyFolders],
  async handler({ organizationId, folderId }, { caller, services }) {
    const scope = { ...caller.tenant, organizationId }
    const answerOf = (folder: FolderView) => folderAnswerV1(organizationId, folder)
    if (folderId === undefined)
      return {
        message: 'Folders found.',
        data: answerAllFolders(await services.folders.all(scope), answerOf),
      }
    const found = await services.folders.below(scope, folderId, 1)
    return { message: 'Folders found.', data: [answerTree(found, answerOf)] }
  },
})
