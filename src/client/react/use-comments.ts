import type { RoomComments } from './comment-store.ts'
import { useRoomClient } from './document-room.ts'
import { useLiveValue } from './live-value.ts'

/**
 * Returns the comments of the document, and functions that change them. It reads them from the endpoint of
 * `WeftProvider`, and again after each change of any user. The component renders again when they change.
 * @throws Error if the component is not inside a `Room`, or if `WeftProvider` has no `endpoint`
 */
export const useComments = (): RoomComments => useLiveValue(useRoomClient().comments())
