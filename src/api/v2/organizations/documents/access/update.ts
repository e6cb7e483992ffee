import { documentIds } from '../../../../document-schema.ts'
import { countOf, keyedResults } from '../../../../keyed.ts'
import { operation } from '../../../../operation.ts'
import { accessType, noOrganization, organizationId } from '../../../../resource-schema.ts'

export const updateDocumentAccess = operation({
  path: '/v2/organizations/documents/access/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Set the access type of documents',
  description: 'Open connections follow within a second.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentIds', 'accessType'],
    properties: { organizationId, documentIds, accessType },
  },
  response: keyedResults,
  errors: [noOrganization],
  async handler({ organizationId, documentIds, accessType }, { caller, services }) {
    const changes = documentIds.map((documentId) => ({ documentId, accessType }))
    const results = await services.documents.update({ ...caller.tenant, organizationId }, changes)
    return { message: `${countOf(results)} documents updated.`, data: results }
  },
})
