import { rmSync } from 'node:fs'
import { WebSocket } from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import { eventually } from '../support/clients/clients.ts'
import { freePort, type ServerProcess } from '../support/servers/process.ts'
import { dataDirectory, startAsIs } from './support/server.ts'

/** The result of a reconnect storm. */
export interface Storm {
  readonly ended: 'SIGTERM' | 'SIGKILL'
  /** Time from the first answer of the server until the last client has synced. */
  readonly milliseconds: number
  /** Clients that lack edits made meanwhile, or whose edits are missing; 0 is expected. */
  readonly unequal: number
  /** Maximum bytes of document messages that an unchanged client has sent and received, vectors included. */
  readonly unchangedBytes: number
  /** Size of each document at the start. */
  readonly documentBytes: number
}

/** Stock clients of one document. */
const perDocument = 50
/** Large enough that repeated content would be visible in the byte counts. */
const characters = 10_000
/** Number of clients that connect at the same time at the start. */
const atOnce = 100

/** Counts the bytes of document messages on one client's connection, handshake included. */
class CountedSocket extends WebSocket {
  static readonly bytes = new Map<string, number>()

  constructor(url: string) {
    super(url, { perMessageDeflate: false })
    this.on('message', (data: Buffer) => this.#count(data))
  }

  override send(data: Uint8Array): void {
    this.#count(data)
    super.send(data)
  }

  #count(data: Uint8Array): void {
    // The first byte is 0 for messages about the document and 1 for awareness.
    if (data[0] !== 0) return
    CountedSocket.bytes.set(this.url, (CountedSocket.bytes.get(this.url) ?? 0) + data.length)
  }
}

interface Client {
  readonly provider: WebsocketProvider
  readonly doc: Y.Doc
  readonly url: string
}

const textOf = ({ doc }: Client): string => doc.getText('content').toString()

class Crowd {
  readonly clients: Client[] = []
  readonly #token: string
  readonly #wsUrl: string

  constructor(server: ServerProcess, token: string) {
    this.#wsUrl = server.wsUrl
    this.#token = token
  }

  async join(count: number): Promise<void> {
    while (this.clients.length < count) {
      const from = this.clients.length
      for (let number = from; number < Math.min(count, from + atOnce); number++) this.#add(number)
      await this.synced(() => 0)
    }
  }

  /** The clients that type; each shares its document with clients that do not type. */
  get typing(): readonly Client[] {
    return this.clients.filter((_, number) => number % (2 * perDocument) === 0)
  }

  /** The clients of documents without edits. */
  get unchanged(): readonly Client[] {
    return this.clients.filter((_, number) => Math.floor(number / perDocument) % 2 === 1)
  }

  /** Number of clients whose text differs from that of the first client of their document. */
  get unequal(): number {
    const first = (number: number) => this.clients[number - (number % perDocument)] as Client
    return this.clients.filter((client, number) => textOf(client) !== textOf(first(number))).length
  }

  async synced(missing: () => number): Promise<void> {
    // The comparison is expensive, so it starts when all have synced.
    const waiting = () => this.clients.filter(({ provider }) => !provider.synced).length || missing()
    await eventually(() => waiting() === 0, waiting, 120_000)
  }

  close(): void {
    for (const { provider, doc } of this.clients) {
      provider.destroy()
      doc.destroy()
    }
  }

  #add(number: number): void {
    const doc = new Y.Doc()
    const name = `acme/storm-${Math.floor(number / perDocument)}/main`
    // An own parameter counts the bytes of each client; the server ignores it.
    const params = { token: this.#token, number: String(number) }
    const provider = new WebsocketProvider(`${this.#wsUrl}/sync`, name, doc, {
      params,
      WebSocketPolyfill: CountedSocket as never,
      disableBc: true,
      maxBackoffTime: 200,
    })
    this.clients.push({ provider, doc, url: provider.url })
    if (number % perDocument === 0) doc.getText('content').insert(0, 'x'.repeat(characters))
  }
}

/**
 * Ends a server with many clients while some of them type, starts it on the same port, and waits until all
 * clients are connected and equal.
 */
export async function storm(count: number, ended: Storm['ended']): Promise<Storm> {
  // Each stock client listens for the end of the process.
  process.setMaxListeners(0)
  const [data, port] = [dataDirectory(), await freePort()]
  const start = () => startAsIs(data, port)
  let server = await start()
  const crowd = new Crowd(server, await server.token())
  try {
    await crowd.join(count)
    await crowd.synced(() => crowd.unequal)
    await server.end(ended)
    await eventually(() => crowd.clients.every(({ provider }) => !provider.wsconnected), undefined, 60_000)
    for (const { doc } of crowd.typing) doc.getText('content').insert(0, 'typed meanwhile')
    CountedSocket.bytes.clear()
    server = await start()
    const startedAt = performance.now()
    await crowd.synced(() => crowd.unequal)
    const milliseconds = performance.now() - startedAt
    const bytes = crowd.unchanged.map(({ url }) => CountedSocket.bytes.get(url) ?? 0)
    const documentBytes = Y.encodeStateAsUpdate((crowd.unchanged[0] as Client).doc).length
    return { ended, milliseconds, unequal: crowd.unequal, unchangedBytes: Math.max(...bytes), documentBytes }
  } finally {
    crowd.close()
    await server.end('SIGKILL')
    rmSync(data, { recursive: true, force: true, maxRetries: 5 })
  }
}
