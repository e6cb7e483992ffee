import type { RemovalTask } from '../../directory/removal/removal-task.ts'
import type { DocumentLog } from '../../engine/engine.ts'
import type { DocumentAddress } from '../../model/address.ts'
import type { Commits } from '../log/commits.ts'
import type { DocumentRegistry } from './document-registry.ts'
import type { Room } from './room.ts'
import { isDeletion } from './room-errors.ts'

/** Is an open document part of what is removed? What a folder holds nobody has counted: the directory says it. */
export async function isPartOfRemoval(
  task: RemovalTask,
  address: DocumentAddress,
  records: DocumentRegistry,
): Promise<boolean> {
  if (task.kind === 'documents') return task.documentIds.includes(address.documentId)
  return task.kind === 'organization' || records.isGoing(address, address.documentId)
}

/**
 * Removes what a closed room has appended since its log was removed, unless it is not alone: what another node has made
 * of the document by now stays.
 * @throws StoreUnavailableError
 */
export async function removeLateAppends(log: DocumentLog, room: Room): Promise<void> {
  await room.settled()
  if (await isAlone(room.commits)) await log.destroy(room.doc)
}

async function isAlone(commits: Commits): Promise<boolean> {
  try {
    return await commits.endsAt(commits.head)
  } catch (error) {
    if (isDeletion(error)) return false
    throw error
  }
}
