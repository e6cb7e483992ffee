import { documentIds } from '../../../document-schema.ts'
import { countOf, keyedResults } from '../../../keyed.ts'
import { operation } from '../../../operation.ts'
import { noOrganization, organizationId } from '../../../resource-schema.ts'

export const deleteDocuments = operation({
  path: '/v2/organizations/documents/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete documents',
  description:
    'With the content of all their editors, and the permissions on them. Connections are closed for good. The answer ' +
    'comes when all of it is gone; what a crash interrupts is taken up again.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentIds'],
    properties: { organizationId, documentIds },
  },
  response: keyedResults,
  errors: [noOrganization],
  async handler({ organizationId, documentIds }, { caller, services }) {
    const results = await services.documents.delete({ ...caller.tenant, organizationId }, documentIds)
    return { message: `${countOf(results)} documents deleted.`, data: results }
  },
})
