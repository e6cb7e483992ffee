import { json } from '../../../../../../core/base/schema.ts'
import type { PageRange } from '../../../../../../core/directory/store/list-page.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { answerPage, pageRequest, pageSizeUpTo } from '../../../../../../rest/paging/page-request.ts'
import { contentErrors } from '../../../../../../rest/schemas/content-format.ts'
import { versionLimits } from '../../../../limits.ts'
import {
  toVersionResponse,
  versionedAddress,
  versionedEditor,
  versionRecord,
} from '../../../version-schema.ts'

export const listVersions = defineOperation({
  path: '/v2/crdt/versions/list',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'List the versions of an editor',
  description: 'The newest first, without their content.',
  request: json.object(
    { ...versionedEditor },
    { ...pageRequest, pageSize: pageSizeUpTo(versionLimits.listed, versionLimits.listed) },
  ),
  response: json.list(versionRecord),
  errors: contentErrors,
  async handler(data, context) {
    const address = await versionedAddress(data, context.caller, context.services)
    const query = ['versions', address.organizationId, address.documentId, address.editorId]
    const list = (range: PageRange) => context.services.versions.list(address, range)
    return answerPage(context, query, data, list, ['versions', toVersionResponse], versionLimits.listed)
  },
})
