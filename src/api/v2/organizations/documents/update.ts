import { documentsToUpdate } from '../../../document-schema.ts'
import { countOf, keyedResults } from '../../../keyed.ts'
import { operation } from '../../../operation.ts'
import { checkMetadata, noOrganization, organizationId } from '../../../resource-schema.ts'

export const updateDocuments = operation({
  path: '/v2/organizations/documents/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Update documents',
  description: 'What is not given stays as it is.',
  request: {
    type: 'object',
    required: ['organizationId', 'documents'],
    properties: { organizationId, documents: documentsToUpdate },
  },
  response: keyedResults,
  errors: [noOrganization],
  async handler({ organizationId, documents }, { caller, services }) {
    checkMetadata('documents', documents)
    const results = await services.documents.update({ ...caller.tenant, organizationId }, documents)
    return { message: `${countOf(results)} documents updated.`, data: results }
  },
})
