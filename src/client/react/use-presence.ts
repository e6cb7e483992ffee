import { useRoomClient } from './document-room.ts'
import { useLiveValue } from './live-value.ts'
import type { RoomPresence } from './room-client.ts'

/**
 * Returns the users on the document. The component renders again when a user or a field of a user changes, but not when
 * a cursor moves.
 * @throws Error if the component is not inside a `Room`
 */
export const usePresence = (): RoomPresence => useLiveValue(useRoomClient().presence)
