import { json } from '../../../../core/base/schema.ts'
import { defineBatchOperation } from '../../../schemas/batch-results.ts'
import { documentsToUpdate, toDocumentInputs } from '../../../schemas/document-schema.ts'
import { checkMetadata, organizationId, organizationNotFound } from '../../../schemas/resource-schema.ts'

export const updateDocuments = defineBatchOperation({
  path: '/v2/organizations/documents/update',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Update documents',
  description: 'Omitted members keep their values.',
  items: { documents: 'documentId' },
  check: checkMetadata,
  done: 'documents updated',
  request: json.object({
    organizationId,
    documents: documentsToUpdate,
  }),
  errors: [organizationNotFound],
  handler: ({ organizationId, documents }, { caller, services }) =>
    services.documents.update({ ...caller.tenant, organizationId }, toDocumentInputs(documents)),
})
