import { json } from '../../../../core/base/schema.ts'
import { defineBatchOperation } from '../../../schemas/batch-results.ts'
import { documentIdsSchema } from '../../../schemas/document-schema.ts'
import { folderErrors, organizationId } from '../../../schemas/resource-schema.ts'

export const moveDocuments = defineBatchOperation({
  path: '/v2/organizations/documents/move',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Move documents',
  description:
    'Moves documents into a folder, or out of their folder. Documents then inherit access from the new folder.',
  items: { documentIds: null },
  done: 'documents moved',
  request: json.object({
    organizationId,
    documentIds: documentIdsSchema,
    folderId: json.id('Target folder; `root`: no folder.'),
  }),
  errors: folderErrors,
  handler: ({ organizationId, documentIds, folderId }, { caller, services }) =>
    services.documents.move({ ...caller.tenant, organizationId }, documentIds, folderId),
})
