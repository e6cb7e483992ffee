import { defineOperation } from '../../../operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../../schemas/batch-results.ts'
import { foldersRequest } from '../../../schemas/folder-schema.ts'
import { organizationNotFound } from '../../../schemas/resource-schema.ts'

export const updateFolders = defineOperation({
  path: '/v1/organizations/folders/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Update and move folders',
  description:
    'What is not given stays as it is. With another `parentFolderId` the folder moves there with all that is in it. ' +
    'Moves of one call are judged together: those that would put folders into themselves are all refused.',
  batch: keyedBatch({ folders: 'folderId' }),
  request: foldersRequest,
  response: batchResults,
  errors: [organizationNotFound],
  async handler({ organizationId, folders }, { caller, services }) {
    const changes = folders.map(({ folderId, folderName, parentFolderId }) => ({
      folderId,
      folderName,
      parentFolderId,
    }))
    const results = await services.folders.update({ ...caller.tenant, organizationId }, changes)
    return { message: `${countSucceeded(results)} folders updated.`, data: results }
  },
})
