import { json } from '../../../../core/base/schema.ts'
import type { DocumentView } from '../../../../core/directory/documents/document-views.ts'
import { StreamedArray } from '../../../../core/model/json-pieces.ts'
import { defineOperation } from '../../../operation.ts'
import { documentAnswerV1, documentRecordV1 } from '../../../schemas/document-schema.ts'
import {
  documentId,
  lookupMax,
  organizationId,
  organizationNotFound,
} from '../../../schemas/resource-schema.ts'

export const getDocumentsV1 = defineOperation({
  path: '/v1/organizations/documents/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Read documents (version 1)',
  description:
    'Returns documents by id, without unknown ids; or all documents of the organization at once. For large organizations ' +
    'use version 2, which has pages.',
  request: json.object(
    { organizationId },
    {
      documentIds: json.list(documentId, {
        maxItems: lookupMax,
        description: 'Default: all documents of the organization.',
      }),
    },
  ),
  response: json.list(documentRecordV1),
  errors: [organizationNotFound],
  async handler({ organizationId, documentIds }, { caller, services }) {
    const scope = { ...caller.tenant, organizationId }
    if (documentIds === undefined) {
      const all = await services.documents.all(scope)
      return { message: 'Documents found.', data: new StreamedArray(() => answersOf(all())) }
    }
    const found = await services.documents.get(scope, [...new Set(documentIds)])
    return { message: 'Documents found.', data: found.map(documentAnswerV1) }
  },
})

async function* answersOf(pages: AsyncIterable<readonly DocumentView[]>) {
  for await (const page of pages) yield page.map(documentAnswerV1)
}
