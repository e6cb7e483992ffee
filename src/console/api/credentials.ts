/**
 * Credentials for calls. They leave this page only in the headers of calls to the server that serves the
 * page.
 */
export interface ConsoleCredentials {
  readonly apiKey?: string
  readonly authToken?: string
  readonly workspaceId?: string
  readonly workspaceAuthToken?: string
  /** Token for metrics: the admin token, or a metrics token that the user has entered. */
  readonly metricsToken?: string
}

/**
 * Key of the credentials in the session storage, which lasts until the tab closes. A tab that is opened from
 * this tab gets a copy of the session storage.
 */
const place = 'weft-credentials'

/** Returns the stored credentials. They are empty if the server runs without authentication. */
export function loadCredentials(): ConsoleCredentials | null {
  const kept = sessionStorage.getItem(place)
  return kept === null ? null : credentialsIn(kept, [...members, 'metricsToken'])
}

export function saveCredentials(credentials: ConsoleCredentials | null): void {
  if (credentials === null) sessionStorage.removeItem(place)
  else sessionStorage.setItem(place, JSON.stringify(credentials))
}

/**
 * Returns the credentials in the address (`#key=…&token=…&…`), and removes them from the address. Returns null
 * if there are none. `weft console` and the first start print such links. Browsers do not send the part after
 * `#` to servers.
 */
export function takeCredentialsFromLink(): ConsoleCredentials | null {
  const given = new URLSearchParams(location.hash.slice(1))
  const [apiKey, authToken] = [given.get('key'), given.get('token')]
  if (apiKey === null || authToken === null) return null
  // Replaces the history entry in the same task. Dispatches the event because `replaceState` sends none, but
  // the route must follow the new address.
  history.replaceState(null, '', `${location.pathname}#/`)
  dispatchEvent(new HashChangeEvent('hashchange'))
  const others = Object.entries(linkMembers).flatMap(([member, name]) => {
    const value = given.get(name)
    return value === null ? [] : [[member, value]]
  })
  return { apiKey, authToken, ...Object.fromEntries(others) }
}

/** Names in the address of the members that a link can lack. */
const linkMembers = {
  workspaceId: 'workspace',
  workspaceAuthToken: 'workspaceToken',
  metricsToken: 'admin',
} as const satisfies Partial<Record<keyof ConsoleCredentials, string>>

const members = ['apiKey', 'authToken', 'workspaceId', 'workspaceAuthToken'] as const

/**
 * Returns the members of a file `credentials.json` that the console uses; null if `text` is not such a file.
 */
export function parseCredentialsFile(text: string): ConsoleCredentials | null {
  const found = credentialsIn(text, members)
  if (found === null || Object.keys(found).length === 0) return null
  const { adminToken: metricsToken } = JSON.parse(text) as { readonly adminToken?: unknown }
  return isText(metricsToken) ? { ...found, metricsToken } : found
}

const isText = (value: unknown): value is string => typeof value === 'string'

/** Returns the members with these names that are strings; null if `text` is not JSON. */
function credentialsIn(text: string, names: readonly string[]): ConsoleCredentials | null {
  try {
    const found = Object.entries<unknown>(JSON.parse(text)).filter(
      ([name, value]) => names.includes(name) && isText(value),
    )
    return Object.fromEntries(found)
  } catch {
    return null
  }
}
