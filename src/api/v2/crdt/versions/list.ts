import { versionLimits } from '../../../../versions/limits.ts'
import { operation } from '../../../operation.ts'
import { paging, readPage } from '../../../paging.ts'
import {
  noSuchContent,
  showVersion,
  versionedAddress,
  versionedEditor,
  versionRecord,
} from '../../../version-schema.ts'

export const listVersions = operation({
  path: '/v2/crdt/versions/list',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'List the versions of an editor',
  description: 'The newest first, without their content.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'editorId'],
    properties: {
      ...versionedEditor,
      ...paging,
      pageSize: { ...paging.pageSize, maximum: versionLimits.listed, default: versionLimits.listed },
    },
  },
  response: { type: 'array', items: versionRecord },
  errors: [noSuchContent],
  async handler({ pageSize = versionLimits.listed, pageToken, ...editor }, context) {
    const address = await versionedAddress(editor, context.caller, context.services)
    const query = ['versions', address.organizationId, address.documentId, address.editorId]
    const page = { pageSize, ...(pageToken !== undefined && { pageToken }) }
    const { found, token } = await readPage(context, query, page, (range) =>
      context.services.versions.list(address, range),
    )
    return { message: `${found.items.length} versions found.`, data: found.items.map(showVersion), ...token }
  },
})
