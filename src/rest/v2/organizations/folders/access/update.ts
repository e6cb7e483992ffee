import { json } from '../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../../../schemas/batch-results.ts'
import {
  accessType,
  batchMax,
  folderId,
  organizationId,
  organizationNotFound,
} from '../../../../schemas/resource-schema.ts'

export const updateFolderAccess = defineOperation({
  path: '/v2/organizations/folders/access/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Set the access type of folders',
  description: 'For all that is in them and inherits access. Open connections follow within a second.',
  batch: keyedBatch({ folderIds: null }),
  request: json.object(
    {
      organizationId,
      folderIds: json.list(folderId, { maxItems: batchMax, examples: [['reports']] }),
      accessType,
    },
    {
      inheritAccessFromParent: json.boolean(
        'False: permissions from parent folders and the organization do not apply in the folder. Default: unchanged; ' +
          'true for new folders.',
      ),
    },
  ),
  response: batchResults,
  errors: [organizationNotFound],
  async handler(data, { caller, services }) {
    const { organizationId, folderIds, accessType, inheritAccessFromParent } = data
    const changes = folderIds.map((folderId) => ({ folderId, accessType, inheritAccessFromParent }))
    const results = await services.folders.update({ ...caller.tenant, organizationId }, changes)
    return { message: `${countSucceeded(results)} folders updated.`, data: results }
  },
})
