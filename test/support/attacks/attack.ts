import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { type ClientOptions, WebSocket } from 'ws'

/** A server, and the credentials of a tenant that attacks it. */
export interface Target {
  readonly url: string
  readonly wsUrl: string
  readonly port: number
  /** Headers with the credentials of the tenant's API key. */
  readonly headers: Readonly<Record<string, string>>
  /** A realtime token of a user of the tenant. */
  readonly token: string
}

/** One step of an attack. The step ignores errors, because the server may reject anything in it. */
export type Round = () => Promise<unknown>

export interface Attack {
  /** Number of the finding in the security review. */
  readonly finding: number
  /** Creates the documents and connections that the attack needs. Returns the step that is repeated. */
  readonly prepare: (target: Target) => Promise<Round>
  /** Ids of the documents that the attack uses in the organization `hostile`. */
  readonly documents: readonly string[]
  /** Present if the test must also measure large reads and replacements of the honest tenant. */
  readonly delaysCalls?: true
}

/**
 * Local address of the attacker's connections. It is a separate address, so that limits of an address apply
 * only to the hostile tenant.
 */
export const hostileAddress = '127.0.0.2'

const agent = new Agent({ keepAlive: true, maxSockets: 256, localAddress: hostileAddress })
const callTimeoutMs = 30_000

export interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Sends a request and reads the response. Returns the HTTP status, or 0 if there is no response. */
export function call(
  { port }: Target,
  path: string,
  { method = 'GET', headers, body }: Sent,
): Promise<number> {
  return new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', port, path, method, agent, headers, timeout: callTimeoutMs })
    sent.on('response', (response) => {
      response.on('error', () => resolve(0)).on('close', () => resolve(response.statusCode ?? 0))
      response.resume()
    })
    sent.on('timeout', () => sent.destroy())
    sent.on('error', () => resolve(0))
    sent.end(body)
  })
}

/**
 * Calls a REST operation with the API key of the tenant. Returns the HTTP status, or 0 if there is no
 * response.
 */
export const post = (
  target: Target,
  path: string,
  data: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> => {
  const all = { 'content-type': 'application/json', ...target.headers, ...headers }
  return call(target, path, { method: 'POST', headers: all, body: JSON.stringify({ data }) })
}

export const editorOf = (documentId: string, organizationId = 'hostile') => ({
  organizationId,
  documentId,
  editorId: 'main',
})

/** Merges an update into a document. Creates the document if it does not exist. */
export const store = (target: Target, documentId: string, update: Uint8Array): Promise<number> =>
  post(target, '/v2/crdt/apply', {
    ...editorOf(documentId),
    create: true,
    update: Buffer.from(update).toString('base64'),
  })

/** Returns the websocket URL of a document. */
export const syncUrl = ({ wsUrl, token }: Target, documentId: string): string =>
  `${wsUrl}/sync/hostile/${encodeURIComponent(documentId)}/main?token=${token}`

/**
 * Opens a websocket that discards the messages it receives. Returns null if the websocket does not open in
 * time.
 */
export async function openSocket(url: string, options: ClientOptions = {}): Promise<WebSocket | null> {
  const socket = new WebSocket(url, { perMessageDeflate: false, localAddress: hostileAddress, ...options })
  socket.on('error', () => {})
  const ends = new AbortController()
  await Promise.race([
    once(socket, 'open', ends),
    once(socket, 'close', ends),
    sleep(callTimeoutMs, ends.signal),
  ]).catch(() => {})
  ends.abort()
  return socket.readyState === WebSocket.OPEN ? socket : null
}

/**
 * Waits until the server has handled all messages sent so far, or has closed the socket. Returns false if
 * neither happens within `withinMs`.
 */
export async function served(socket: WebSocket, withinMs = 5_000): Promise<boolean> {
  const ends = new AbortController()
  const answered = new Promise<boolean>((resolve) => {
    socket.on('message', (message: Buffer) => message[0] === 0 && message[1] === 1 && resolve(true))
    socket.on('close', () => resolve(true))
  })
  socket.send(Uint8Array.of(0, 0, 1, 0))
  const isServed = await Promise.race([answered, sleep(withinMs, ends.signal).then(() => false)])
  ends.abort()
  return isServed
}

export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => clearTimeout(timer))
  })

/** Opens a TCP connection that ignores errors. */
export function rawConnection({ port }: Target): Socket {
  const connection = connect({ host: '127.0.0.1', port, localAddress: hostileAddress })
  connection.on('error', () => {})
  return connection
}

/** Waits until all written bytes have left this process, but at most `withinMs`. */
export async function taken(connection: Socket, withinMs = 5_000): Promise<void> {
  const until = performance.now() + withinMs
  while (connection.writableLength > 0 && !connection.destroyed && performance.now() < until) await sleep(20)
}

/** Calls `work` concurrently with the numbers 0 to `count - 1`. */
export const together = <T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))

/** Returns a function that returns 0, 1, 2 and so on. */
export function counter(): () => number {
  let next = 0
  return () => next++
}
