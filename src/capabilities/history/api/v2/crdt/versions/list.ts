import { json } from '../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { pageRequest, pageSizeUpTo, readPage } from '../../../../../../rest/paging/page-request.ts'
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
  async handler({ pageSize = versionLimits.listed, pageToken, ...editor }, context) {
    const address = await versionedAddress(editor, context.caller, context.services)
    const query = ['versions', address.organizationId, address.documentId, address.editorId]
    const page = {
      pageSize: Math.min(pageSize, versionLimits.listed),
      ...(pageToken !== undefined && { pageToken }),
    }
    const { found, token } = await readPage(context, query, page, (range) =>
      context.services.versions.list(address, range),
    )
    return {
      message: `${found.items.length} versions found.`,
      data: found.items.map(toVersionResponse),
      ...token,
    }
  },
})
