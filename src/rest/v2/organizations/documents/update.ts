import { json } from '../../../../core/base/schema.ts'
import { defineOperation } from '../../../operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../../schemas/batch-results.ts'
import { documentsToUpdate, toDocumentInputs } from '../../../schemas/document-schema.ts'
import { checkMetadata, organizationId, organizationNotFound } from '../../../schemas/resource-schema.ts'

export const updateDocuments = defineOperation({
  path: '/v2/organizations/documents/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Update documents',
  description: 'Omitted members keep their values.',
  batch: keyedBatch({ documents: 'documentId' }, checkMetadata),
  request: json.object({
    organizationId,
    documents: documentsToUpdate,
  }),
  response: batchResults,
  errors: [organizationNotFound],
  async handler({ organizationId, documents }, { caller, services }) {
    const results = await services.documents.update(
      { ...caller.tenant, organizationId },
      toDocumentInputs(documents),
    )
    return { message: `${countSucceeded(results)} documents updated.`, data: results }
  },
})
