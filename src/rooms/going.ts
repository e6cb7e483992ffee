import type { OrganizationScope } from '../directory/organization-keys.ts'
import type { RemovalTask } from '../directory/removal-task.ts'
import type { DocumentLog } from '../engine/engine.ts'
import type { DocumentAddress } from '../model/address.ts'
import type { Copy } from './copy.ts'
import { isDeletion } from './failing.ts'
import type { Room } from './room.ts'

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

/**
 * Removes what a closed room has appended since its log was removed, unless it is not alone: what another node has made
 * of the document by now stays.
 * @throws StoreUnavailable
 */
export async function removeAgain(log: DocumentLog, room: Room): Promise<void> {
  await room.settled()
  if (room.copy === null || (await isAlone(room.copy))) await log.destroy(room.doc)
}

async function isAlone({ commits }: Copy): Promise<boolean> {
  try {
    return await commits.endsAt(commits.head)
  } catch (error) {
    if (isDeletion(error)) return false
    throw error
  }
}
