import { timerMax } from './deadline.ts'

/** Function with the signature of the global `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Options of `createClient`. Each kind of credentials is needed only for the operations that require it. */
export interface ClientOptions {
  /** Address of the server, such as `https://weft.example.com`, with the path prefix of a proxy if there is one. */
  readonly url: string
  /** API key. Almost all operations need it and its auth token. Keep both in backends, not in pages. */
  readonly apiKey?: string | undefined
  /** Auth token of the API key. */
  readonly authToken?: string | undefined
  /**
   * Token of an agent, from `auth.generateToken` with `agent: true`. The client of an agent has it instead of an API
   * key.
   */
  readonly agentToken?: string | undefined
  /** Id of the workspace, for operations on the workspace and its API keys. */
  readonly workspaceId?: string | undefined
  /** Auth token of the workspace. */
  readonly workspaceAuthToken?: string | undefined
  /** Admin token of the server, for operations of the operator. */
  readonly adminToken?: string | undefined
  /** Replaces the global `fetch`. */
  readonly fetch?: Fetch | undefined
  /** Milliseconds for one call with its retries. Default: 60,000. */
  readonly timeoutMs?: number | undefined
  /** Maximum number of retries of one call. Default: 5. */
  readonly retries?: number | undefined
  /**
   * Maximum bytes of a response. A larger one is not read, and the call has the code `client/invalid-response`.
   * Default: 134,217,728.
   */
  readonly responseBytesMax?: number | undefined
}

/** The options with their defaults. */
export interface Settings {
  /** Address of the server without a slash at its end. */
  readonly url: string
  readonly credentials: Readonly<Record<string, string>>
  readonly fetch: Fetch
  readonly timeoutMs: number
  readonly retries: number
  readonly responseBytesMax: number
  /** Longest time in seconds for which a retry waits because the server names it. */
  readonly retryAfterMaxSeconds: number
}

/** Headers of the credentials. */
const headers = {
  apiKey: 'x-service-api-key',
  authToken: 'x-service-auth-token',
  agentToken: 'authorization',
  workspaceId: 'x-service-workspace-id',
  workspaceAuthToken: 'x-service-workspace-auth-token',
  adminToken: 'x-service-admin-token',
} as const

const retryAfterMaxSeconds = 30

/**
 * Checks the options.
 * @throws TypeError if an option is not valid
 */
export function settingsOf(options: ClientOptions): Settings {
  const credentials = Object.entries(headers).flatMap(([name, header]) => {
    const value = options[name as keyof typeof headers]
    if (value === undefined) return []
    // Other characters cannot be sent in a header, and fetch would report the value in its error.
    if (!/^[!-~]+$/.test(value)) throw new TypeError(`invalid ${name}; expected visible ASCII characters`)
    return [[header, name === 'agentToken' ? `Bearer ${value}` : value]]
  })
  // The server would use the API key, and the agent would have all of its rights.
  if (options.agentToken !== undefined && (options.apiKey ?? options.authToken) !== undefined)
    throw new TypeError('agentToken and apiKey are both given; expected one of them')
  return {
    url: addressOf(options.url),
    credentials: Object.fromEntries(credentials) as Readonly<Record<string, string>>,
    fetch: options.fetch ?? ((address, init) => fetch(address, init)),
    timeoutMs: Math.min(numberOf('timeoutMs', options.timeoutMs, 60_000, 1), timerMax),
    retries: numberOf('retries', options.retries, 5, 0),
    responseBytesMax: numberOf('responseBytesMax', options.responseBytesMax, 134_217_728, 1),
    retryAfterMaxSeconds,
  }
}

/** Returns the address without a slash at its end. */
function addressOf(url: string): string {
  const { protocol, origin, pathname, search, hash } = new URL(url)
  if (!['http:', 'https:'].includes(protocol) || search + hash !== '')
    throw new TypeError(`invalid url "${url}"; expected an address such as https://weft.example.com`)
  return origin + (pathname.endsWith('/') ? pathname.slice(0, -1) : pathname)
}

/** Returns the value of an option that is a number. */
function numberOf(name: string, value: number | undefined, byDefault: number, minimum: number): number {
  if (value === undefined) return byDefault
  if (value >= minimum) return value
  throw new TypeError(`invalid ${name} ${value}; expected a number of at least ${minimum}`)
}
