import { documentIds } from '../../../document-schema.ts'
import { countOf, keyedResults } from '../../../keyed.ts'
import { operation } from '../../../operation.ts'
import { folderId, noFolder, organizationId } from '../../../resource-schema.ts'

export const moveDocuments = operation({
  path: '/v2/organizations/documents/move',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Move documents',
  description:
    'Into a folder, or out of any. Access that documents inherit is then that of their new folder.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentIds', 'folderId'],
    properties: {
      organizationId,
      documentIds,
      folderId: { ...folderId, description: 'Where to; `root`: into none.' },
    },
  },
  response: keyedResults,
  errors: [noFolder],
  async handler({ organizationId, documentIds, folderId }, { caller, services }) {
    const results = await services.documents.move({ ...caller.tenant, organizationId }, documentIds, folderId)
    return { message: `${countOf(results)} documents moved.`, data: results }
  },
})
