import { json } from '../../../../core/base/schema.ts'
import { deletedTypes } from '../../../../core/directory/removal/deletion-record.ts'
import type { PageRange } from '../../../../core/directory/store/list-page.ts'
import { defineOperation } from '../../../operation.ts'
import { answerPage, pageRequest } from '../../../paging/page-request.ts'

const path = '/v2/workspace/deleted/get'
const pageSizeDefault = 100

export const getDeleted = defineOperation({
  path,
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'List what can be restored',
  description:
    'The deletions whose data the server still has. Each deleted document, folder, organization or branch is one entry, ' +
    'with everything in it. A page may have fewer items than requested, or no items: continue until there is ' +
    'no `pageToken`.',
  request: json.object(
    {},
    { organizationId: json.id('Only deletions in this organization.'), ...pageRequest },
  ),
  response: json.list(
    json.object(
      {
        deletionId: json.text('Id of the deletion, for `restore` and `purge`.'),
        type: json.choice(deletedTypes),
        organizationId: json.text(),
        id: json.text('Id of the deleted resource; for a branch, its editor id.'),
        name: json.text('Name of the deleted resource; empty if it had none.'),
        deletedAt: json.integer('Epoch milliseconds.'),
        expiresAt: json.integer('Epoch milliseconds. The server then deletes the data.'),
      },
      { documentId: json.text('Id of the document of a deleted branch.') },
    ),
  ),
  async handler({ organizationId, pageSize = pageSizeDefault, pageToken }, context) {
    const { caller, services } = context
    const list = (range: PageRange) => services.deletions.list(caller.tenant, range, organizationId)
    return answerPage(context, [path, organizationId ?? null], { pageSize, pageToken }, list, [
      'deletions',
      ({ state: _state, problem: _problem, ...deletion }) => deletion,
    ])
  },
})
