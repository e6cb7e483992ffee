import { json } from '../../../../core/base/schema.ts'
import { reportCreated } from '../../../near-miss-warnings.ts'
import { defineOperation } from '../../../operation.ts'
import { batchResults, countSucceeded, isAnySuccessful, keyedBatch } from '../../../schemas/batch-results.ts'
import { documentsToAdd, toDocumentInputs } from '../../../schemas/document-schema.ts'
import { checkMetadata, organizationId, organizationNotFound } from '../../../schemas/resource-schema.ts'

export const addDocuments = defineOperation({
  path: '/v2/organizations/documents/add',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  grows: 'records',
  warns: true,
  creates: true,
  summary: 'Add documents',
  description: 'An existing document is not changed (`success: false`).',
  batch: keyedBatch({ documents: 'documentId' }, checkMetadata),
  request: json.object(
    {
      organizationId,
      documents: documentsToAdd,
    },
    {
      createOrganization: json.flag('True: creates the organization first if it does not exist.'),
      createFolder: json.flag('True: first creates missing folders, at the top.'),
    },
  ),
  response: batchResults,
  errors: [organizationNotFound],
  async handler(data, { caller, services }) {
    const { createOrganization = false, createFolder = false } = data
    const documents = toDocumentInputs(data.documents)
    const scope = { ...caller.tenant, organizationId: data.organizationId }
    let isNewOrganization = false
    if (createOrganization) {
      const { results } = await services.documents.rehearseAdding(scope, documents, { createFolder })
      if (!isAnySuccessful(results)) return { message: 'No documents added.', data: results, created: {} }
      isNewOrganization = await services.organizations.ensure(scope)
    }
    const { results, folders } = await services.documents.add(scope, documents, { createFolder })
    const created = {
      ...(isNewOrganization && { organizations: [scope.organizationId] }),
      ...(folders.length > 0 && { folders }),
    }
    const reported = await reportCreated(services, scope, created)
    return { message: `${countSucceeded(results)} documents added.`, data: results, ...reported }
  },
})
