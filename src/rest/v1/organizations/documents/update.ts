import type { Operation } from '../../../operation.ts'
import { updateDocuments } from '../../../v2/organizations/documents/update.ts'

export const updateDocumentsV1: Operation = {
  ...updateDocuments,
  path: '/v1/organizations/documents/update',
  summary: 'Update documents (version 1)',
}
