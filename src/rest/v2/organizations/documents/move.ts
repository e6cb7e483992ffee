import { json } from '../../../../core/base/schema.ts'
import { defineOperation } from '../../../operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../../schemas/batch-results.ts'
import { documentIdsSchema } from '../../../schemas/document-schema.ts'
import { folderErrors, organizationId } from '../../../schemas/resource-schema.ts'

export const moveDocuments = defineOperation({
  path: '/v2/organizations/documents/move',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Move documents',
  description:
    'Moves documents into a folder, or out of their folder. Documents then inherit access from the new folder.',
  batch: keyedBatch({ documentIds: null }),
  request: json.object({
    organizationId,
    documentIds: documentIdsSchema,
    folderId: json.id('Target folder; `root`: no folder.'),
  }),
  response: batchResults,
  errors: folderErrors,
  async handler({ organizationId, documentIds, folderId }, { caller, services }) {
    const results = await services.documents.move({ ...caller.tenant, organizationId }, documentIds, folderId)
    return { message: `${countSucceeded(results)} documents moved.`, data: results }
  },
})
