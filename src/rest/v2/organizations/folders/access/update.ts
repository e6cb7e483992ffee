import { json } from '../../../../../core/base/schema.ts'
import { defineBatchOperation } from '../../../../schemas/batch-results.ts'
import {
  accessType,
  batchMax,
  folderId,
  organizationId,
  organizationNotFound,
} from '../../../../schemas/resource-schema.ts'

export const updateFolderAccess = defineBatchOperation({
  path: '/v2/organizations/folders/access/update',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Set the access type of folders',
  description: 'For all that is in them and inherits access. Open connections follow within a second.',
  items: { folderIds: null },
  done: 'folders updated',
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
  errors: [organizationNotFound],
  async handler(data, { caller, services }) {
    const { organizationId, folderIds, accessType, inheritAccessFromParent } = data
    const changes = folderIds.map((folderId) => ({ folderId, accessType, inheritAccessFromParent }))
    return services.folders.update({ ...caller.tenant, organizationId }, changes)
  },
})
