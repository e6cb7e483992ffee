import { json } from '../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../../../schemas/batch-results.ts'
import { documentIdsSchema } from '../../../../schemas/document-schema.ts'
import { accessType, organizationId, organizationNotFound } from '../../../../schemas/resource-schema.ts'

export const updateDocumentAccess = defineOperation({
  path: '/v2/organizations/documents/access/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Set the access type of documents',
  description: 'Open connections follow within a second.',
  batch: keyedBatch({ documentIds: null }),
  request: json.object({
    organizationId,
    documentIds: documentIdsSchema,
    accessType,
  }),
  response: batchResults,
  errors: [organizationNotFound],
  async handler({ organizationId, documentIds, accessType }, { caller, services }) {
    const changes = documentIds.map((documentId) => ({ documentId, accessType }))
    const results = await services.documents.update({ ...caller.tenant, organizationId }, changes)
    return { message: `${countSucceeded(results)} documents updated.`, data: results }
  },
})
