import { defineOperation } from '../../../operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../../schemas/batch-results.ts'
import { documentName } from '../../../schemas/document-schema.ts'
import {
  batchMax,
  documentId,
  organizationId,
  organizationNotFound,
} from '../../../schemas/resource-schema.ts'

export const updateDocumentsV1 = defineOperation({
  path: '/v1/organizations/documents/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Update documents (version 1)',
  description: 'Omitted members keep their values.',
  batch: keyedBatch({ documents: 'documentId' }),
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
  response: batchResults,
  errors: [organizationNotFound],
  async handler({ organizationId, documents }, { caller, services }) {
    // Ignores the fields that only version 2 of this operation accepts.
    const changes = documents.map(({ documentId, documentName }) => ({ documentId, documentName }))
    const results = await services.documents.update({ ...caller.tenant, organizationId }, changes)
    return { message: `${countSucceeded(results)} documents updated.`, data: results }
  },
})
