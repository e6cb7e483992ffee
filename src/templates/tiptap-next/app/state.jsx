'use client'

import { useRoom } from './room'

/** Shows whether the changes are saved, the role of the user, and the users who have the document open. */
export function State() {
  const { status, problem, saved, role, isStoredOffline, users } = useRoom()
  const texts = {
    connecting: 'connecting',
    connected: saved ? 'saved' : 'saving',
    offline: isStoredOffline ? 'offline: kept in this browser' : 'offline: keep this page open',
    closed: `closed: ${problem?.message}`,
  }
  return (
    <header>
      <h1>Tiptap on Weft</h1>
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
