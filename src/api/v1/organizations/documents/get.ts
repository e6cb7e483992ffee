import { documentAnswerV1, documentRecordV1 } from '../../../document-schema.ts'
import { operation } from '../../../operation.ts'
import { documentId, lookupMax, noOrganization, organizationId } from '../../../resource-schema.ts'

export const getDocumentsV1 = operation({
  path: '/v1/organizations/documents/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Read documents (version 1)',
  description:
    'By id, where those that do not exist are left out; or all of the organization at once. For large organizations ' +
    'use version 2, which has pages.',
  request: {
    type: 'object',
    required: ['organizationId'],
    properties: {
      organizationId,
      documentIds: {
        type: 'array',
        items: documentId,
        maxItems: lookupMax,
        description: 'Without it all documents of the organization.',
      },
    },
  },
  response: { type: 'array', items: documentRecordV1 },
  errors: [
    noOrganization,
    { status: 'FAILED_PRECONDITION', when: 'the organization has too many documents for one answer' },
  ],
  async handler({ organizationId, documentIds }, { caller, services }) {
    const scope = { ...caller.tenant, organizationId }
    const found =
      documentIds === undefined
        ? await services.documents.all(scope)
        : await services.documents.get(scope, [...new Set(documentIds)])
    return { message: 'Documents found.', data: found.map(documentAnswerV1) }
  },
})
