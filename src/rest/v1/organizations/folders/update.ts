import { defineBatchOperation } from '../../../schemas/batch-results.ts'
import { foldersRequest } from '../../../schemas/folder-schema.ts'
import { organizationNotFound } from '../../../schemas/resource-schema.ts'

export const updateFolders = defineBatchOperation({
  path: '/v1/organizations/folders/update',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Update and move folders',
  description:
    'Omitted members keep their values. With another `parentFolderId` the folder moves there with its content. ' +
    'The server checks the moves of a call together, and rejects all moves that would put folders into themselves.',
  items: { folders: 'folderId' },
  done: 'folders updated',
  request: foldersRequest,
  errors: [organizationNotFound],
  async handler({ organizationId, folders }, { caller, services }) {
    const changes = folders.map(({ folderId, folderName, parentFolderId }) => ({
      folderId,
      folderName,
      parentFolderId,
    }))
    return services.folders.update({ ...caller.tenant, organizationId }, changes)
  },
})
