import { useRoomClient } from './document-room.ts'
import { useLiveValue } from './live-value.ts'
import type { RoomState } from './room-client.ts'

/**
 * Returns the document, the provider and the status of the room. The component renders again when the status, the
 * problem or the role changes, but not when the content does.
 * @throws Error if the component is not inside a `Room`
 */
export const useRoom = (): RoomState => useLiveValue(useRoomClient().state)
