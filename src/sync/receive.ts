import { fullMessage } from '../directory/storage-quota.ts'
import { type Close, close } from '../model/close.ts'
import type { Room } from '../rooms/room/room.ts'
import type { SessionDependencies } from './session/session-options.ts'

type ReceivedUpdate = Parameters<Room['receive']>[0]

/**
 * Passes a vetted update to the room. Returns the reason to close the socket if the update exceeds a limit and was
 * rejected. A workspace at its storage limit accepts updates that only delete, and offers of stored content.
 */
export function receiveUpdate(
  { storage, documentBytesMax }: Pick<SessionDependencies, 'storage' | 'documentBytesMax'>,
  room: Room,
  update: ReceivedUpdate,
): Close | null {
  const { bytes, summary } = update
  const { workspaceId } = room.address
  const bytesMax = storage.fullAt(workspaceId)
  if (bytesMax !== null && summary.clients.length > 0 && !room.contains(bytes, summary))
    return close('tooLarge', `${fullMessage(bytesMax)}; delete something first`, 'maxStoredBytesPerWorkspace')
  if (!room.receive(update))
    return close('tooLarge', `a document has at most ${documentBytesMax} bytes`, 'maxDocumentBytes')
  // A client offers the deletions of its whole document at each reconnect. They are stored already.
  if (summary.clients.length > 0) storage.added(workspaceId, bytes.length)
  return null
}
