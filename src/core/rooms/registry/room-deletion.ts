import type { RemovalTask } from '../../directory/removal/removal-task.ts'
import { branchEditorId } from '../../model/branch-address.ts'
import type { DocumentLog } from '../../store/engine.ts'
import type { Room } from '../room/room.ts'
import type { DocumentRegistry } from '../room/room-dependencies.ts'

/** Number of heads in one read. */
const headsAtOnce = 500

/**
 * Returns whether a removal task deletes this open document. The removal task of a folder does not list the
 * documents in the folder; for such a task the function reads the directory. A restore ends the rooms that were opened
 * without a log, so that the next ones load the log.
 */
export async function isPartOfRemoval(
  task: RemovalTask,
  { address, commits }: Pick<Room, 'address' | 'commits'>,
  records: DocumentRegistry,
): Promise<boolean> {
  if (task.kind === 'documents') return task.documentIds.includes(address.documentId)
  if (task.kind === 'organization') return true
  if (task.kind === 'branch')
    return address.documentId === task.place.documentId && address.editorId === branchEditorId(task.place)
  if (task.kind === 'purge' || (task.kind === 'restore' && commits.hasLog)) return false
  return records.isGoing(address, address.documentId)
}

/**
 * Returns the open rooms whose logs were removed. A log that was created again since has another epoch.
 * @throws StoreUnavailableError
 */
export async function removedAmong(log: DocumentLog, rooms: readonly Room[]): Promise<readonly Room[]> {
  const removed: Room[] = []
  for (let start = 0; start < rooms.length; start += headsAtOnce) {
    const asked = rooms.slice(start, start + headsAtOnce).map((room) => ({ room, epoch: room.epoch }))
    const heads = await log.heads(asked.map(({ room }) => room.doc))
    const gone = asked.filter(
      ({ room, epoch }, index) => heads[index]?.epoch !== epoch && room.epoch === epoch,
    )
    removed.push(...gone.map(({ room }) => room))
  }
  return removed
}

/**
 * Removes the log that a closed room without a log may have created after the removal of its document. Keeps a log of a
 * later owner.
 * @throws StoreUnavailableError, AppendRejectedError
 */
export async function removeLateAppends(log: DocumentLog, room: Room): Promise<void> {
  await room.settled()
  await log.destroy(room.doc, room.term)
}
