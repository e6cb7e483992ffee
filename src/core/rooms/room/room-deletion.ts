import type { RemovalTask } from '../../directory/removal/removal-task.ts'
import type { DocumentAddress } from '../../model/address.ts'
import type { DocumentLog } from '../../store/engine.ts'
import type { Commits } from '../log/commits.ts'
import type { Room } from './room.ts'
import type { DocumentRegistry } from './room-dependencies.ts'
import { isDeletion } from './room-errors.ts'

/**
 * Returns whether a removal task deletes this open document. The removal task of a folder does not list the
 * documents in the folder; for such a task the function reads the directory.
 */
export async function isPartOfRemoval(
  task: RemovalTask,
  address: DocumentAddress,
  records: DocumentRegistry,
): Promise<boolean> {
  if (task.kind === 'documents') return task.documentIds.includes(address.documentId)
  return task.kind === 'organization' || records.isGoing(address, address.documentId)
}

/**
 * Removes the updates that a closed room has appended after its log was removed. Such appends create a new
 * log. Removes nothing if another node may have created the document again.
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
