/** What a call is made with. Nothing of it leaves this page but as headers of calls to its own server. */
export interface ConsoleCredentials {
  readonly apiKey?: string
  readonly authToken?: string
  readonly workspaceId?: string
  readonly workspaceAuthToken?: string
  /** Of `/metrics`, where the server asks for one. */
  readonly metricsToken?: string
}

/** Gone when the tab is closed, and known to no other tab but those opened from this one. */
const place = 'weft-credentials'

export function loadCredentials(): ConsoleCredentials | null {
  const kept = sessionStorage.getItem(place)
  return kept === null ? null : (JSON.parse(kept) as ConsoleCredentials)
}

export function saveCredentials(credentials: ConsoleCredentials | null): void {
  if (credentials === null) sessionStorage.removeItem(place)
  else sessionStorage.setItem(place, JSON.stringify(credentials))
}

/**
 * Those that a link of `weft console` or of the first start brings along, `#key=…&token=…`. They are taken out of the
 * address at once, and were never sent to a server: fragments are not.
 */
export function takeCredentialsFromLink(): ConsoleCredentials | null {
  const given = new URLSearchParams(location.hash.slice(1))
  const [apiKey, authToken] = [given.get('key'), given.get('token')]
  if (apiKey === null || authToken === null) return null
  // Replaces the history entry in the same task. `replaceState` sends no event, but the route follows the address.
  history.replaceState(null, '', `${location.pathname}#/`)
  dispatchEvent(new HashChangeEvent('hashchange'))
  return { apiKey, authToken }
}

const members = ['apiKey', 'authToken', 'workspaceId', 'workspaceAuthToken'] as const

/** The members of `credentials.json` that are of use here; null: the text is none. */
export function parseCredentialsFile(text: string): ConsoleCredentials | null {
  try {
    const file = JSON.parse(text) as Record<string, unknown>
    const found = members.filter((member) => typeof file[member] === 'string')
    return found.length === 0 ? null : Object.fromEntries(found.map((member) => [member, file[member]]))
  } catch {
    return null
  }
}
