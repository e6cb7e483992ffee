import { foldersRequest } from '../../../folder-schema.ts'
import { countOf, keyedResults } from '../../../keyed.ts'
import { operation } from '../../../operation.ts'
import { noOrganization } from '../../../resource-schema.ts'

export const updateFolders = operation({
  path: '/v1/organizations/folders/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Update and move folders',
  description:
    'What is not given stays as it is. With another `parentFolderId` the folder moves there with all that is in it. ' +
    'Moves of one call are judged together: those that would put folders into themselves are all refused.',
  request: foldersRequest,
  response: keyedResults,
  errors: [noOrganization],
  async handler({ organizationId, folders }, { caller, services }) {
    const changes = folders.map(({ folderId, folderName, parentFolderId }) => ({
      folderId,
      folderName,
      parentFolderId,
    }))
    const results = await services.folders.update({ ...caller.tenant, organizationId }, changes)
    return { message: `${countOf(results)} folders updated.`, data: results }
  },
})
