import { defineOperation } from '../../../operation.ts'
import { folderRequest } from '../../../schemas/folder-schema.ts'
import { folderErrors } from '../../../schemas/resource-schema.ts'

export const deleteFolder = defineOperation({
  path: '/v2/organizations/folders/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete a folder',
  description:
    'Deletes the folder with all folders and documents in it, and their content. Connections to these are closed ' +
    'permanently. The response comes when everything is deleted. After a crash the server resumes the deletion.',
  request: folderRequest,
  response: { type: 'null' },
  errors: folderErrors,
  async handler({ organizationId, folderId }, { caller, services }) {
    await services.folders.delete({ ...caller.tenant, organizationId }, folderId)
    return { message: 'Folder deleted.', data: null }
  },
})
