import { once } from 'node:events'
import { type ClientOptions, WebSocket } from 'ws'
import { WebsocketProvider as Provider3 } from 'y-websocket'
import { WebsocketProvider as Provider1 } from 'y-websocket-1'
import { WebsocketProvider as Provider2 } from 'y-websocket-2'
import * as Y from 'yjs'
import { type AwarenessEntry, readAwareness, writeAwareness } from '../../../src/core/update/awareness.ts'

/** Stock y-websocket providers by major version. */
export const providers = { 1: Provider1, 2: Provider2, 3: Provider3 } as const
export type ProviderVersion = keyof typeof providers

export interface Editor {
  readonly doc: Y.Doc
  readonly text: Y.Text
  readonly provider: Provider3
  close(): void
}

export interface EditorOptions {
  readonly version?: ProviderVersion
  readonly parameters?: Record<string, string>
  /** Class of the socket; default: the one of `ws`. */
  readonly Socket?: unknown
}

/**
 * Opens an editor with a stock provider, as the page of a user does. Does not wait until the provider is
 * connected.
 */
export function openEditor(wsUrl: string, path: string, token: string, options: EditorOptions = {}): Editor {
  const doc = new Y.Doc()
  const Provider = providers[options.version ?? 3] as typeof Provider3
  const provider = new Provider(`${wsUrl}/sync`, path, doc, {
    params: { token, ...options.parameters },
    WebSocketPolyfill: (options.Socket ?? WebSocket) as never,
    disableBc: true,
    maxBackoffTime: 200,
  })
  const close = (): void => {
    provider.destroy()
    doc.destroy()
  }
  return { doc, text: doc.getText('content'), provider, close }
}

/** Opens an editor, and waits until its provider has synced. */
export async function syncedEditor(...parameters: Parameters<typeof openEditor>): Promise<Editor> {
  const editor = openEditor(...parameters)
  if (!editor.provider.synced) {
    await new Promise<void>((resolve) => editor.provider.on('sync', (synced: boolean) => synced && resolve()))
  }
  return editor
}

/**
 * Waits until `holds` returns true. After `timeoutMs`, throws an error with the result of `describe`. The pause after a
 * check is four times its duration, from 5 to 100 ms, because some checks read all metrics of a server.
 */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  describe: () => unknown = () => '',
  timeoutMs = 60_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const checkedAt = Date.now()
    if (await holds()) return
    const now = Date.now()
    if (now > deadline) throw new Error(`did not happen: ${JSON.stringify(describe())}`)
    const pauseMs = Math.min(100, Math.max(5, 4 * (now - checkedAt)))
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

export interface Closed {
  readonly code: number
  readonly reason: string
}

/** A client that works with single messages of the wire protocol, so that a test controls each message. */
export class RawClient {
  readonly socket: WebSocket
  /** Messages that the client has received. */
  readonly received: Uint8Array[] = []
  readonly closed: Promise<Closed>

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', (data: Buffer) => this.received.push(Uint8Array.from(data)))
    socket.on('error', () => {})
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }))
    })
  }

  /**
   * Opens a connection. Resolves when the server has accepted the upgrade. The server accepts every upgrade.
   */
  static async connect(
    url: string,
    headers: Record<string, string> = {},
    options: ClientOptions = {},
  ): Promise<RawClient> {
    const client = new RawClient(new WebSocket(url, { headers, perMessageDeflate: false, ...options }))
    await Promise.race([once(client.socket, 'open'), client.closed])
    return client
  }

  send(bytes: Uint8Array): void {
    this.socket.send(bytes)
  }

  sendUpdate(update: Uint8Array): void {
    this.send(message([0, 2], update))
  }

  /** Sends an update as the answer to the state vector of the server. */
  sendOffer(update: Uint8Array): void {
    this.send(message([0, 1], update))
  }

  sendVector(vector: Uint8Array): void {
    this.send(message([0, 0], vector))
  }

  sendAwareness(clientId: number, clock: number, state: unknown): void {
    this.send(message([1], writeAwareness([{ clientId, clock, text: JSON.stringify(state) }])))
  }

  /**
   * Waits until the server has removed the client's own awareness state. Then sends the state again, as stock
   * clients do.
   */
  async contradict(clientId: number, state: unknown): Promise<void> {
    const farewell = (): AwarenessEntry | undefined =>
      this.awareness().findLast((entry) => entry.clientId === clientId && entry.state === null)
    await eventually(() => farewell() !== undefined)
    this.sendAwareness(clientId, (farewell()?.clock ?? 0) + 1, state)
  }

  /** Returns the bodies of the received messages that start with the given types. */
  bodies(...types: number[]): Uint8Array[] {
    return this.received
      .filter((bytes) => types.every((type, at) => bytes[at] === type))
      .map((bytes) => body(bytes, types.length))
  }

  updates(): Uint8Array[] {
    return this.bodies(0, 2)
  }

  offers(): Uint8Array[] {
    return this.bodies(0, 1)
  }

  vectors(): Uint8Array[] {
    return this.bodies(0, 0)
  }

  awareness(): AwarenessEntry[] {
    return this.bodies(1).flatMap((bytes) => readAwareness(bytes))
  }

  /** Requests an update, and waits for the answer. The server has then handled all earlier messages. */
  async roundTrip(): Promise<void> {
    const before = this.offers().length
    this.sendVector(Uint8Array.of(0))
    await eventually(() => this.offers().length > before)
  }

  end(): void {
    this.socket.terminate()
  }
}

/** Encodes a message of y-websocket. It consists of the message types and the body with its length. */
export function message(types: readonly number[], bytes: Uint8Array): Uint8Array {
  const length: number[] = []
  let rest = bytes.length
  for (; rest > 127; rest = Math.floor(rest / 128)) length.push((rest % 128) | 128)
  return Uint8Array.from(Buffer.concat([Uint8Array.from([...types, ...length, rest]), bytes]))
}

function body(bytes: Uint8Array, at: number): Uint8Array {
  let start = at
  while ((bytes[start] as number) > 127) start += 1
  return bytes.subarray(start + 1)
}

/** Returns the update of a client that types `text` into an empty document. */
export function typed(text: string, client: number): Uint8Array {
  const doc = new Y.Doc()
  doc.clientID = client
  doc.getText('content').insert(0, text)
  return Y.encodeStateAsUpdate(doc)
}

/** Returns the text of a document after the given updates. */
export function contentOf(updates: readonly Uint8Array[]): string {
  const doc = new Y.Doc()
  for (const update of updates) Y.applyUpdate(doc, update)
  return doc.getText('content').toString()
}
