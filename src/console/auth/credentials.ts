/** Credentials of calls. They leave this page only in the headers of calls to its own server. */
export interface ConsoleCredentials {
  readonly apiKey?: string
  readonly authToken?: string
  readonly workspaceId?: string
  readonly workspaceAuthToken?: string
  /** Token for `/metrics`, if the server requires one. */
  readonly metricsToken?: string
}

/** Stored until the tab closes; only tabs opened from this one get a copy. */
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
 * Takes the credentials of a link by `weft console` or by the first start, `#key=…&token=…`, and removes them from
 * the address. Browsers do not send fragments to servers.
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

/** Parses the members of `credentials.json` that the console uses; null if `text` is not such a file. */
export function parseCredentialsFile(text: string): ConsoleCredentials | null {
  try {
    const file = JSON.parse(text) as Record<string, unknown>
    const found = members.filter((member) => typeof file[member] === 'string')
    return found.length === 0 ? null : Object.fromEntries(found.map((member) => [member, file[member]]))
  } catch {
    return null
  }
}
