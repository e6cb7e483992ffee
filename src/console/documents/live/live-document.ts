import { createDecoder, readVarUint, readVarUint8Array } from 'lib0/decoding'
import { createEncoder, toUint8Array, writeVarUint, writeVarUint8Array } from 'lib0/encoding'
import { messageYjsSyncStep1, messageYjsSyncStep2 } from 'y-protocols/sync'
import * as Y from 'yjs'
import { pauseAfter } from '../../../core/base/backoff.ts'
import { toApiCallError } from '../../api/client.ts'
import { AwarenessTracker } from './awareness-users.ts'

const types = { sync: 0, awareness: 1 } as const

/** An empty Yjs update (V1). */
const nothing = Uint8Array.of(0, 0)

function message(step: number, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const encoder = createEncoder()
  writeVarUint(encoder, types.sync)
  writeVarUint(encoder, step)
  writeVarUint8Array(encoder, body)
  return toUint8Array(encoder)
}

export type ConnectionState =
  | { readonly kind: 'connecting' | 'live' }
  /** The connection is lost. The page reconnects automatically. */
  | { readonly kind: 'lost'; readonly why: string }
  /** The connection has ended. The page does not reconnect. */
  | { readonly kind: 'ended'; readonly why: string }

const reconnectPauses = { firstMs: 500, maxMs: 15_000 }

/**
 * Returns whether a close code means that a new connection cannot succeed. Codes about tokens are not
 * included, because the next connection uses a new token.
 */
const isFinal = (code: number): boolean => code === 4400 || code === 4404 || code === 4413

/**
 * Error statuses that can be temporary when a token is requested. A proxy causes the status `INTERNAL` while
 * its server is not available.
 */
const passing: ReadonlySet<string> = new Set(['OFFLINE', 'UNAVAILABLE', 'RESOURCE_EXHAUSTED', 'INTERNAL'])

/**
 * A document that follows the edits of all clients. It only reads: it sends no edits and no awareness state.
 */
export class LiveDocument {
  readonly doc = new Y.Doc()
  readonly people = new AwarenessTracker()
  connection: ConnectionState = { kind: 'connecting' }
  readonly #url: string
  readonly #token: () => Promise<string>
  readonly #onChange: () => void
  #hangUp: () => void = () => {}
  #retry: ReturnType<typeof setTimeout> | undefined
  #failures = 0
  #frame = 0
  #pause: ReturnType<typeof setTimeout> | undefined
  /** Time of `performance.now()`. Before this time, the page draws nothing. */
  #restUntil = 0
  #isOver = false

  /**
   * @param url URL of the document, such as `ws://localhost:8900/sync/acme/notes/main`
   * @param token returns a new realtime token; called for each connection
   * @param onChange called when the page must be drawn again, at most once per frame
   */
  constructor(url: string, token: () => Promise<string>, onChange: () => void) {
    this.#url = url
    this.#token = token
    this.#onChange = onChange
    this.doc.on('update', () => this.#changed())
    void this.#connect()
  }

  close(): void {
    this.#isOver = true
    this.#hangUp()
    clearTimeout(this.#retry)
    clearTimeout(this.#pause)
    cancelAnimationFrame(this.#frame)
    this.doc.destroy()
  }

  async #connect(): Promise<void> {
    try {
      const token = await this.#token()
      if (!this.#isOver) this.#open(`${this.#url}?token=${encodeURIComponent(token)}`)
    } catch (error) {
      const { status, message } = toApiCallError(error)
      this.#lost(message, !passing.has(status))
    }
  }

  /** Opens a connection in the protocol of y-websocket. The connection receives updates, but sends none. */
  #open(url: string): void {
    const socket = new WebSocket(url)
    const ending = new AbortController()
    const { signal } = ending
    socket.binaryType = 'arraybuffer'
    const ask = () => socket.send(message(messageYjsSyncStep1, Y.encodeStateVector(this.doc)))
    socket.addEventListener('open', ask, { signal })
    socket.addEventListener(
      'message',
      ({ data }: MessageEvent<ArrayBuffer>) => this.#receive(new Uint8Array(data), socket),
      { signal },
    )
    socket.addEventListener(
      'close',
      ({ code, reason }) => this.#lost(reason || `the connection was closed (${code})`, isFinal(code)),
      { signal },
    )
    this.#hangUp = () => {
      ending.abort()
      socket.close()
    }
  }

  #receive(bytes: Uint8Array, socket: WebSocket): void {
    const decoder = createDecoder(bytes)
    const type = readVarUint(decoder)
    if (type === types.awareness) {
      this.people.receive(readVarUint8Array(decoder), Date.now())
      return this.#changed()
    }
    if (type !== types.sync) return
    const step = readVarUint(decoder)
    // Answers the request of the server with an empty update, because a read-only page has no updates to send.
    if (step === messageYjsSyncStep1) return socket.send(message(messageYjsSyncStep2, nothing))
    Y.applyUpdate(this.doc, readVarUint8Array(decoder), this)
    if (step === messageYjsSyncStep2) this.#synced()
  }

  #synced(): void {
    this.#failures = 0
    this.connection = { kind: 'live' }
    this.#changed()
  }

  #lost(why: string, forGood: boolean): void {
    if (this.#isOver) return
    this.people.clear()
    this.connection = { kind: forGood ? 'ended' : 'lost', why }
    this.#changed()
    if (forGood) return
    this.#failures += 1
    this.#retry = setTimeout(() => void this.#connect(), pauseAfter(reconnectPauses, this.#failures))
  }

  /** Schedules a call of `onChange`. There is at most one call per frame, and fewer if drawing takes long. */
  #changed(): void {
    if (this.#pause !== undefined || this.#isOver) return
    this.#pause = setTimeout(() => {
      this.#frame = requestAnimationFrame(() => this.#draw())
    }, this.#restUntil - performance.now())
  }

  #draw(): void {
    this.#pause = undefined
    const began = performance.now()
    this.#onChange()
    // The page is rendered before the next task, so this task measures the time of the rendering. The pause
    // afterwards is twice as long, so that the page can respond to its user.
    setTimeout(() => {
      const now = performance.now()
      this.#restUntil = now + 2 * (now - began)
    })
  }
}
