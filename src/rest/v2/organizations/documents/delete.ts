import { json } from '../../../../core/base/schema.ts'
import { defineOperation } from '../../../operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../../schemas/batch-results.ts'
import { documentIdsSchema } from '../../../schemas/document-schema.ts'
import { organizationId, organizationNotFound } from '../../../schemas/resource-schema.ts'

export const deleteDocuments = defineOperation({
  path: '/v2/organizations/documents/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete documents',
  description:
    'Deletes documents with the content of all their editors and the permissions on them. Connections are closed ' +
    'permanently. The response comes when everything is deleted. After a crash the server resumes the deletion.',
  batch: keyedBatch({ documentIds: null }),
  request: json.object({
    organizationId,
    documentIds: documentIdsSchema,
  }),
  response: batchResults,
  errors: [organizationNotFound],
  async handler({ organizationId, documentIds }, { caller, services }) {
    const results = await services.documents.delete({ ...caller.tenant, organizationId }, documentIds)
    return { message: `${countSucceeded(results)} documents deleted.`, data: results }
  },
})
