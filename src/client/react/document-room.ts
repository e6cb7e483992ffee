import {
  createContext,
  createElement,
  Fragment,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useRef,
  useState,
} from 'react'
import { RoomClient } from './room-client.ts'
import { type RoomAddress, useSettings, type WeftProviderProps } from './weft-provider.ts'

/** Properties of `Room`. */
export interface DocumentRoomProps {
  readonly documentId: string
  /** Default: `main`. */
  readonly editorId?: string | undefined
  /** Shown on the server, and until the room is open. Default: nothing. */
  readonly fallback?: ReactNode
  readonly children?: ReactNode
}

const RoomContext = createContext<RoomClient | null>(null)

/**
 * Opens one editor of a document for its children, which can use `useRoom`, `usePresence` and `useSaved`. It renders
 * them when the room is open; the content arrives later. With another address, it closes the room, and mounts its
 * children again in the other one. When it is unmounted, it ends the connection.
 * @throws Error if it is not below a `WeftProvider`, and TypeError if a setting is not valid
 */
export function DocumentRoom({
  documentId,
  editorId = 'main',
  fallback,
  children,
}: DocumentRoomProps): ReactElement {
  const settings = useSettings()
  const { url, organizationId, endpoint, offlineOwner } = settings
  const key = JSON.stringify([url, organizationId, documentId, editorId, endpoint, offlineOwner])
  const address = { organizationId, documentId, editorId }
  return createElement(OneRoom, { key, settings, address, fallback }, children)
}

interface OneRoomProps {
  readonly settings: WeftProviderProps
  /** It never changes. */
  readonly address: RoomAddress
  readonly fallback: ReactNode
  readonly children?: ReactNode
}

function OneRoom({ settings, address, fallback, children }: OneRoomProps): ReactElement {
  const latest = useRef(settings)
  const [room, setRoom] = useState<RoomClient | null>(null)
  const [failure, setFailure] = useState<{ readonly error: unknown } | null>(null)
  useEffect(() => {
    latest.current = settings
  })
  useEffect(() => {
    let opened: RoomClient | null = null
    let isEnded = false
    // StrictMode ends the first effect at once. The delay keeps it from opening a room.
    queueMicrotask(() => {
      if (isEnded) return
      try {
        opened = new RoomClient(address, () => latest.current)
        setRoom(opened)
      } catch (error) {
        setFailure({ error })
      }
    })
    return () => {
      isEnded = true
      setRoom(null)
      // Effects of the children end later, and can still write.
      queueMicrotask(() => opened?.close())
    }
  }, [])
  const userJson = JSON.stringify(settings.user)
  useEffect(() => room?.publishUser(settings.user), [room, userJson])
  if (failure !== null) throw failure.error
  if (room === null) return createElement(Fragment, null, fallback)
  return createElement(RoomContext.Provider, { key: room.provider.doc.guid, value: room }, children)
}

/** Returns the room of the component. @throws Error if the component is not inside a `Room` */
export function useRoomClient(): RoomClient {
  const room = useContext(RoomContext)
  if (room === null) throw new Error('this hook must be used inside <Room>')
  return room
}
