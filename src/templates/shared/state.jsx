import { useEffect } from 'react'
import { usePresence, useRoom, useSaved } from 'weft-server/react'

/** Shows whether the changes are saved, the role of the user, and the users who have the document open. */
export function State() {
  const { provider, status, problem, role } = useRoom()
  const { users } = usePresence()
  const saved = useSaved()
  useEffect(() => {
    const warn = (event) => {
      if (!provider.saved && !provider.isStoredOffline) event.preventDefault()
    }
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [provider])
  const texts = {
    connecting: 'connecting',
    connected: saved ? 'saved' : 'saving',
    offline: provider.isStoredOffline ? 'offline: kept in this browser' : 'offline: keep this page open',
    closed: `closed: ${problem?.message}`,
  }
  return (
    <header>
      <h1>Shared document</h1>
      <span id="status" role="status">
        {texts[status]}
      </span>
      <span id="role">{role}</span>
      <ul id="users" aria-label="users in this document">
        {users.map(({ id, name, color, isSelf }) => (
          <li key={id} style={{ background: color }}>
            {isSelf ? `${name} (you)` : name}
          </li>
        ))}
      </ul>
    </header>
  )
}
