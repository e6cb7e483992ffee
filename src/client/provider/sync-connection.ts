import { createDecoder, type Decoder, readVarString, readVarUint, readVarUint8Array } from 'lib0/decoding'
import { createEncoder, toUint8Array, writeVarString, writeVarUint, writeVarUint8Array } from 'lib0/encoding'
import { type Awareness, applyAwarenessUpdate, encodeAwarenessUpdate } from 'y-protocols/awareness'
import { applyUpdate, type Doc, encodeStateAsUpdate, encodeStateVector } from 'yjs'
import { WeftSocket, type WeftSocketOptions } from '../weft-socket.ts'

/** Role of the user on the document, weakest first: a suggester writes only the branches of its own. */
export type DocumentRole = 'viewer' | 'suggester' | 'editor'

/** A message of a backend to the clients on a document. */
export interface RealtimeMessage {
  readonly event: string
  readonly data: unknown
}

/** The owner of a connection. */
export interface SyncListener {
  /** Called with the state vector of the server, before the document is sent. Returns false to end the connection. */
  vectorReceived(vector: Uint8Array): boolean
  /** Called when the document has everything of the server. */
  synced(): void
  /** Called when everything that was sent is durable. */
  allSaved(): void
  /** @param isOutdated true if the document has a newer schema than this client */
  roleReceived(role: DocumentRole, canWrite: boolean, isOutdated: boolean): void
  messageReceived(message: RealtimeMessage): void
  closed(code: number, reason: string): void
}

export interface SyncConnectionOptions {
  readonly url: string
  readonly socket: WeftSocketOptions
  readonly doc: Doc
  readonly awareness: Awareness
  /** Origin of the changes that arrive. */
  readonly origin: object
  /** Number of attempts that failed before this one. */
  readonly failures: number
  /**
   * The changes that were sent and are not durable, oldest first. The next connection sends them again: if a prune was
   * received before they arrived, the document does not have their text any more.
   */
  readonly unsaved: Uint8Array[]
}

/** Message types of the protocol. The first four are those of y-websocket; the others are of Weft only. */
const types = {
  sync: 0,
  awareness: 1,
  queryAwareness: 3,
  live: 110,
  saved: 111,
  role: 112,
  token: 113,
} as const
/** Kinds of messages of type `sync`. */
const kinds = { step1: 0, step2: 1, update: 2 } as const

/** Milliseconds without a message after which a connection is dead. The server sends one at least every 15 s. */
const silenceMs = 30_000
/** Maximum factor by which earlier failures extend this time until the document has arrived. */
const patienceMax = 10
/** Milliseconds in which the server must answer when the network has changed. */
const probeMs = 5_000

/** Returns a message that starts with its types. */
function message(types: readonly number[], body?: Uint8Array | string): Uint8Array<ArrayBuffer> {
  const encoder = createEncoder()
  for (const type of types) writeVarUint(encoder, type)
  if (typeof body === 'string') writeVarString(encoder, body)
  else if (body !== undefined) writeVarUint8Array(encoder, body)
  return toUint8Array(encoder)
}

/** One connection to the server, from its start to its end. */
export class SyncConnection {
  readonly #options: SyncConnectionOptions
  readonly #listener: SyncListener
  readonly #socket: WeftSocket
  #timer: ReturnType<typeof setTimeout> | undefined
  #isEnded = false
  /**
   * Milliseconds without a message after which the connection is dead. A document is one message, which takes long if it
   * is large and the network is slow.
   */
  #silenceMs: number
  #hasOffered = false
  /** Numbers of messages with changes that were sent and that are durable. The server counts in the same way. */
  #sentCount = 0
  #savedCount = 0

  constructor(options: SyncConnectionOptions, listener: SyncListener) {
    this.#options = options
    this.#listener = listener
    this.#silenceMs = silenceMs * Math.min(1 + options.failures, patienceMax)
    const socket = new WeftSocket(options.url, [], options.socket)
    this.#socket = socket
    socket.binaryType = 'arraybuffer'
    socket.addEventListener('open', () => this.#opened())
    socket.addEventListener('message', (event) => {
      this.#expectWithin(this.#silenceMs)
      this.#receive(createDecoder(new Uint8Array((event as MessageEvent<ArrayBuffer>).data)))
    })
    socket.addEventListener('close', (event) => {
      const { code, reason } = event as CloseEvent
      this.#end(code, reason)
    })
  }

  /** True if the server was sent everything that it lacked. */
  get hasOffered(): boolean {
    return this.#hasOffered
  }

  /** True if everything that was sent is durable. */
  get isAllSaved(): boolean {
    return this.#hasOffered && this.#savedCount >= this.#sentCount
  }

  /** Sends a change, unless the next answer to the server contains it. */
  sendUpdate(update: Uint8Array): void {
    if (!this.#hasOffered || this.#isEnded) return
    this.#count(update)
    this.#send(message([types.sync, kinds.update], update))
  }

  /** Must be called for a change that is not sent: the server then never has everything by this connection. */
  withholdUpdate(): void {
    if (this.#hasOffered) this.#sentCount = Number.POSITIVE_INFINITY
  }

  /** Sends the awareness state of this client. */
  sendAwareness(): void {
    const { awareness } = this.#options
    if (this.#socket.readyState !== 1 || !awareness.meta.has(awareness.clientID)) return
    this.#send(message([types.awareness], encodeAwarenessUpdate(awareness, [awareness.clientID])))
  }

  /** Sends a newer token of the same user. */
  sendToken(token: string): void {
    if (this.#socket.readyState === 1) this.#send(message([types.token], token))
  }

  /** Ends the connection with code 1006 if the server does not answer soon. */
  probe(): void {
    if (this.#socket.readyState !== 1) return
    this.#send(message([types.queryAwareness]))
    this.#expectWithin(probeMs)
  }

  /** Ends the connection. Messages that were sent before still go out. Calls nothing of the listener afterwards. */
  close(): void {
    this.#isEnded = true
    clearTimeout(this.#timer)
    this.#socket.close(1000)
  }

  #opened(): void {
    if (this.#isEnded) return
    this.#expectWithin(this.#silenceMs)
    this.#send(message([types.sync, kinds.step1], encodeStateVector(this.#options.doc)))
    this.sendAwareness()
  }

  #send(bytes: Uint8Array<ArrayBuffer>): void {
    this.#socket.send(bytes)
  }

  #end(code: number, reason: string): void {
    if (this.#isEnded) return
    this.close()
    this.#listener.closed(code, reason)
  }

  #expectWithin(ms: number): void {
    clearTimeout(this.#timer)
    if (!this.#isEnded) this.#timer = setTimeout(() => this.#end(1006, 'the server does not answer'), ms)
  }

  #receive(decoder: Decoder): void {
    if (this.#isEnded) return
    switch (readVarUint(decoder)) {
      case types.sync:
        return this.#receiveSync(decoder)
      case types.awareness:
        return applyAwarenessUpdate(this.#options.awareness, readVarUint8Array(decoder), this.#options.origin)
      case types.queryAwareness:
        return this.sendAwareness()
      case types.live:
        return this.#listener.messageReceived(JSON.parse(readVarString(decoder)) as RealtimeMessage)
      case types.saved: {
        const count = readVarUint(decoder)
        this.#options.unsaved.splice(0, count - this.#savedCount)
        this.#savedCount = count
        if (this.isAllSaved) this.#listener.allSaved()
        return
      }
      case types.role: {
        const right = readVarUint(decoder)
        return this.#listener.roleReceived(readVarString(decoder) as DocumentRole, right === 1, right === 2)
      }
    }
  }

  #receiveSync(decoder: Decoder): void {
    const { doc, origin } = this.#options
    const kind = readVarUint(decoder)
    const body = readVarUint8Array(decoder)
    if (kind === kinds.step1) return this.#offer(body)
    applyUpdate(doc, body, origin)
    // An observer of the document may have ended the connection.
    if (kind !== kinds.step2 || this.#isEnded) return
    this.#silenceMs = silenceMs
    this.#expectWithin(silenceMs)
    this.#listener.synced()
  }

  /** Sends everything that the server lacks. The server counts the first offer of a connection only. */
  #offer(vector: Uint8Array): void {
    // A listener of `saved` may disconnect.
    if (!this.#listener.vectorReceived(vector) || this.#isEnded) return
    if (!this.#hasOffered) this.#sendUnsaved()
    this.#send(message([types.sync, kinds.step2], encodeStateAsUpdate(this.#options.doc, vector)))
  }

  #sendUnsaved(): void {
    this.#hasOffered = true
    for (const update of this.#options.unsaved.splice(0)) if (update.length > 0) this.sendUpdate(update)
    // The offer has the place of an empty change.
    this.#count(new Uint8Array())
  }

  #count(update: Uint8Array): void {
    this.#sentCount += 1
    this.#options.unsaved.push(update)
  }
}
