import { documentName } from '../../../document-schema.ts'
import { countOf, keyedResults } from '../../../keyed.ts'
import { operation } from '../../../operation.ts'
import { batchMax, documentId, noOrganization, organizationId } from '../../../resource-schema.ts'

export const updateDocumentsV1 = operation({
  path: '/v1/organizations/documents/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Update documents (version 1)',
  description: 'What is not given stays as it is.',
  request: {
    type: 'object',
    required: ['organizationId', 'documents'],
    properties: {
      organizationId,
      documents: {
        type: 'array',
        maxItems: batchMax,
        items: { type: 'object', required: ['documentId'], properties: { documentId, documentName } },
        examples: [[{ documentId: 'report', documentName: 'Annual report' }]],
      },
    },
  },
  response: keyedResults,
  errors: [noOrganization],
  async handler({ organizationId, documents }, { caller, services }) {
    // Other members are for version 2 and ignored here.
    const changes = documents.map(({ documentId, documentName }) => ({ documentId, documentName }))
    const results = await services.documents.update({ ...caller.tenant, organizationId }, changes)
    return { message: `${countOf(results)} documents updated.`, data: results }
  },
})
