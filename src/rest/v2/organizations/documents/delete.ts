import { json } from '../../../../core/base/schema.ts'
import { defineBatchOperation } from '../../../schemas/batch-results.ts'
import { documentIdsSchema } from '../../../schemas/document-schema.ts'
import { organizationId, organizationNotFound } from '../../../schemas/resource-schema.ts'

export const deleteDocuments = defineBatchOperation({
  path: '/v2/organizations/documents/delete',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete documents',
  description:
    'Deletes documents with the content of all their editors and the permissions on them. Connections are closed ' +
    'permanently. The response comes when everything is deleted. After a crash the server resumes the deletion.',
  items: { documentIds: null },
  done: 'documents deleted',
  request: json.object({
    organizationId,
    documentIds: documentIdsSchema,
  }),
  errors: [organizationNotFound],
  handler: ({ organizationId, documentIds }, { caller, services }) =>
    services.documents.delete({ ...caller.tenant, organizationId }, documentIds),
})
