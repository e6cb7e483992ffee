import type { OrganizationScope } from '../directory/organization-keys.ts'
import type { RemovalTask } from '../directory/removal-task.ts'
import type { DocumentAddress } from '../model/address.ts'

/** Whoever keeps a record of each document that there is. */
export interface DocumentRecords {
  /** Makes the record unless there is one. @throws ApiError ABORTED while the document is being deleted */
  ensure(scope: OrganizationScope, documentId: string): Promise<void>
  /** Is the document being deleted, itself or with what it is in? */
  isGoing(scope: OrganizationScope, documentId: string): Promise<boolean>
}

/** Is an open document part of what is removed? What a folder holds nobody has counted: the directory says it. */
export async function isIn(
  task: RemovalTask,
  address: DocumentAddress,
  records: DocumentRecords,
): Promise<boolean> {
  if (task.kind === 'documents') return task.documentIds.includes(address.documentId)
  return task.kind === 'organization' || records.isGoing(address, address.documentId)
}
