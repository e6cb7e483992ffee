const at = (id) => document.getElementById(id)

/** Shows whether the changes are saved, the role of the user, and the users who have the document open. */
export function showState(provider) {
  const show = () => {
    const { status, problem, saved, role, isStoredOffline } = provider
    const texts = {
      connecting: 'connecting',
      connected: saved ? 'saved' : 'saving',
      offline: isStoredOffline ? 'offline: kept in this browser' : 'offline: keep this page open',
      closed: `closed: ${problem?.message}`,
    }
    at('status').textContent = texts[status]
    at('role').textContent = role ?? ''
    at('users').replaceChildren(...provider.users().map(chip))
  }
  for (const event of ['status', 'saved', 'role', 'users']) provider.on(event, show)
  window.addEventListener('beforeunload', (event) => {
    if (!provider.saved && !provider.isStoredOffline) event.preventDefault()
  })
  show()
}

function chip({ name, color, isSelf }) {
  const element = document.createElement('li')
  element.textContent = isSelf ? `${name} (you)` : name
  element.style.background = color ?? '#ddd'
  return element
}
