'use client'

import { createContext, useContext, useEffect, useState } from 'react'
import { DocumentProvider } from 'weft-server/provider'
import { IndexeddbPersistence } from 'y-indexeddb'

const RoomContext = createContext(null)

/** Returns the provider of the room and its state. The component renders again when the state changes. */
export const useRoom = () => useContext(RoomContext)

/** Opens a document for its children. They are rendered in the browser only, when the provider exists. */
export function Room({ name, color, documentId, children }) {
  const [room, setRoom] = useState(null)

  useEffect(() => {
    const provider = new DocumentProvider({
      url: `${location.origin}/collab`,
      organizationId: 'demo',
      documentId,
      tokenUrl: `/weft/token${location.search}`,
      user: { name, color },
      offline: IndexeddbPersistence,
      // Users of one browser must not get the offline changes of each other.
      offlineName: `weft/demo/${documentId}/${name}`,
    })
    let isOpen = true
    const show = () => {
      if (isOpen) setRoom(stateOf(provider))
    }
    // Editors write while React renders them. React does not permit updates of other components at that time.
    const showSoon = () => queueMicrotask(show)
    for (const event of ['status', 'saved', 'role', 'users']) provider.on(event, showSoon)
    const warn = (event) => {
      if (!provider.saved && !provider.isStoredOffline) event.preventDefault()
    }
    window.addEventListener('beforeunload', warn)
    void provider.whenLoaded().then(show)
    return () => {
      isOpen = false
      setRoom(null)
      window.removeEventListener('beforeunload', warn)
      provider.destroy()
    }
  }, [name, color, documentId])

  if (room === null) return <p>Loading …</p>
  return (
    <RoomContext value={room} key={room.provider.doc.guid}>
      {children}
    </RoomContext>
  )
}

function stateOf(provider) {
  const { status, problem, saved, role, canWrite, isStoredOffline } = provider
  return { provider, status, problem, saved, role, canWrite, isStoredOffline, users: provider.users() }
}
