import type { RoomComments } from './comment-store.ts'
import { useRoomClient } from './document-room.ts'
import { useLiveValue } from './live-value.ts'
import type { RoomPresence, RoomState } from './room-client.ts'

/**
 * Returns the document, the provider and the status of the room. The component renders again when the status, the
 * problem or the role changes, but not when the content does.
 * @throws Error if the component is not inside a `Room`
 */
export const useRoom = (): RoomState => useLiveValue(useRoomClient().state)

/**
 * Returns the users on the document. The component renders again when a user or a field of a user changes, but not when
 * a cursor moves.
 * @throws Error if the component is not inside a `Room`
 */
export const usePresence = (): RoomPresence => useLiveValue(useRoomClient().presence)

/**
 * Returns whether the server has stored every change of the document on disk.
 * @throws Error if the component is not inside a `Room`
 */
export const useSaved = (): boolean => useLiveValue(useRoomClient().saved)

/**
 * Returns the comments of the document, and functions that change them. It reads them from the endpoint of
 * `WeftProvider`, and again after each change of any user. The component renders again when they change.
 * @throws Error if the component is not inside a `Room`, or if `WeftProvider` has no `endpoint`
 */
export const useComments = (): RoomComments => useLiveValue(useRoomClient().comments())
