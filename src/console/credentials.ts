/** What a call is made with. Nothing of it leaves this page but as headers of calls to its own server. */
export interface Credentials {
  readonly apiKey?: string
  readonly authToken?: string
  readonly workspaceId?: string
  readonly workspaceAuthToken?: string
  /** Of `/metrics`, where the server asks for one. */
  readonly metricsToken?: string
}

/** Gone when the tab is closed, and known to no other tab but those opened from this one. */
const place = 'weft-credentials'

export function keptCredentials(): Credentials | null {
  const kept = sessionStorage.getItem(place)
  return kept === null ? null : (JSON.parse(kept) as Credentials)
}

export function keepCredentials(credentials: Credentials | null): void {
  if (credentials === null) sessionStorage.removeItem(place)
  else sessionStorage.setItem(place, JSON.stringify(credentials))
}

/**
 * Those that a link of `weft console` or of the first start brings along, `#key=…&token=…`. They are taken out of the
 * address at once, and were never sent to a server: fragments are not.
 */
export function credentialsOfLink(): Credentials | null {
  const given = new URLSearchParams(location.hash.slice(1))
  const [apiKey, authToken] = [given.get('key'), given.get('token')]
  if (apiKey === null || authToken === null) return null
  // Not by `history`: whoever follows the address is to learn of it.
  location.replace('#/')
  return { apiKey, authToken }
}

const members = ['apiKey', 'authToken', 'workspaceId', 'workspaceAuthToken'] as const

/** The members of `credentials.json` that are of use here; null: the text is none. */
export function credentialsOfFile(text: string): Credentials | null {
  try {
    const file = JSON.parse(text) as Record<string, unknown>
    const found = members.filter((member) => typeof file[member] === 'string')
    return found.length === 0 ? null : Object.fromEntries(found.map((member) => [member, file[member]]))
  } catch {
    return null
  }
}
