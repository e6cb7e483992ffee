import { documentsToAdd } from '../../../document-schema.ts'
import { countOf, keyedResults } from '../../../keyed.ts'
import { operation } from '../../../operation.ts'
import { checkMetadata, noOrganization, organizationId } from '../../../resource-schema.ts'

export const addDocuments = operation({
  path: '/v2/organizations/documents/add',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Add documents',
  description: 'One that exists already is left as it is: `success` is false for it.',
  request: {
    type: 'object',
    required: ['organizationId', 'documents'],
    properties: {
      organizationId,
      documents: documentsToAdd,
      createOrganization: {
        type: 'boolean',
        default: false,
        description: 'Make the organization first if it does not exist.',
      },
      createFolder: {
        type: 'boolean',
        default: false,
        description: 'Make the folders first, at the top, that do not exist.',
      },
    },
  },
  response: keyedResults,
  errors: [noOrganization],
  async handler(data, { caller, services }) {
    const { documents, createOrganization = false, createFolder = false } = data
    checkMetadata('documents', documents)
    const scope = { ...caller.tenant, organizationId: data.organizationId }
    if (createOrganization) await services.organizations.ensure(scope)
    const results = await services.documents.add(scope, documents, { createFolder })
    return { message: `${countOf(results)} documents added.`, data: results }
  },
})
