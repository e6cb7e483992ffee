import { json } from '../../../../../core/base/schema.ts'
import { defineBatchOperation } from '../../../../schemas/batch-results.ts'
import { documentIdsSchema } from '../../../../schemas/document-schema.ts'
import { accessType, organizationId, organizationNotFound } from '../../../../schemas/resource-schema.ts'

export const updateDocumentAccess = defineBatchOperation({
  path: '/v2/organizations/documents/access/update',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Set the access type of documents',
  description: 'Open connections follow within a second.',
  items: { documentIds: null },
  done: 'documents updated',
  request: json.object({
    organizationId,
    documentIds: documentIdsSchema,
    accessType,
  }),
  errors: [organizationNotFound],
  async handler({ organizationId, documentIds, accessType }, { caller, services }) {
    const changes = documentIds.map((documentId) => ({ documentId, accessType }))
    return services.documents.update({ ...caller.tenant, organizationId }, changes)
  },
})
