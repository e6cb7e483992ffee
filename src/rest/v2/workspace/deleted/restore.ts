import { json } from '../../../../core/base/schema.ts'
import { defineOperation } from '../../../operation.ts'

export const deletionRequest = json.object({
  deletionId: json.id('Id of the deletion, from `/v2/workspace/deleted/get`.'),
})

/** Errors of operations on a deletion. */
export const deletionErrors = [
  { code: 'deletion/not-found', when: 'there is no such deletion' },
  { code: 'deletion/in-progress', when: 'another call restores or purges it' },
] as const

export const restoreDeleted = defineOperation({
  path: '/v2/workspace/deleted/restore',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Restore what was deleted',
  description:
    'Restores everything that the deletion has removed, under the same ids: content with its authors, branches, saved ' +
    'versions, comments, activities, notifications, settings, and the permissions of users and groups that still ' +
    'exist. Judgments are not restored. The response comes when everything is visible. After a crash the server ' +
    'resumes the restore.',
  request: deletionRequest,
  response: { type: 'null' },
  errors: [
    ...deletionErrors,
    { code: 'deletion/id-exists', when: 'an id is in use again; nothing was restored' },
    {
      code: 'deletion/no-parent',
      when: 'the organization, the folder or the document does not exist; nothing was restored',
    },
    {
      code: 'deletion/editor-changed',
      when: 'the editor of the branch was pruned, migrated or deleted; nothing was restored',
    },
  ],
  async handler({ deletionId }, { caller, services }) {
    await services.deletions.restore(caller.tenant, deletionId)
    return { message: 'Restored.', data: null }
  },
})
