import { useRoomClient } from './document-room.ts'
import { useLiveValue } from './live-value.ts'

/**
 * Returns whether the server has stored every change of the document on disk.
 * @throws Error if the component is not inside a `Room`
 */
export const useSaved = (): boolean => useLiveValue(useRoomClient().saved)
