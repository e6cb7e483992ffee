import { defineOperation } from '../../../operation.ts'
import { deletionErrors, deletionRequest } from './restore.ts'

export const purgeDeleted = defineOperation({
  path: '/v2/workspace/deleted/purge',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Purge what was deleted',
  description:
    'Deletes the data of a deletion at once, so that it cannot be restored. The response comes when it is deleted.',
  request: deletionRequest,
  response: { type: 'null' },
  errors: deletionErrors,
  async handler({ deletionId }, { caller, services }) {
    await services.deletions.purge(caller.tenant, deletionId)
    return { message: 'Purged.', data: null }
  },
})
