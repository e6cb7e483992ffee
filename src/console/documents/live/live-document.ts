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
  readonly fresh: RecentEdits
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
    this.fresh = new RecentEdits(this.doc, () => this.#changed())
    this.doc.on('update', () => this.#changed())
    void this.#connect()
  }

  close(): void {
    this.#isOver = true
    this.#hangUp()
    clearTimeout(this.#retry)
    clearTimeout(this.#pause)
    cancelAnimationFrame(this.#frame)
    this.fresh.end()
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
    this.fresh.begin()
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

/** Interval in ms between two steps. Added content counts as new for one to two intervals. */
const stepMs = 3_000

/**
 * Determines which parts of a document are new. A part is new if it was added after an earlier state vector.
 */
export class RecentEdits {
  readonly #doc: Y.Doc
  readonly #onChange: () => void
  #timer: ReturnType<typeof setInterval> | undefined
  /** State vectors of the latest step and of the step before; null before `begin`. */
  #recent: Map<number, number> | null = null
  #older: Map<number, number> | null = null

  /** @param onChange called when parts are no longer new */
  constructor(doc: Y.Doc, onChange: () => void) {
    this.#doc = doc
    this.#onChange = onChange
  }

  /** Starts to observe the document. Content that already exists is not new. */
  begin(): void {
    this.#recent = this.#older = this.#vector()
    this.#timer ??= setInterval(() => this.step(), stepMs)
  }

  step(): void {
    const hadNews = !isSame(this.#older, this.#recent)
    this.#older = this.#recent
    this.#recent = this.#vector()
    if (hadNews) this.#onChange()
  }

  /** Returns the first clock of a client whose operation is new. */
  readonly from = (client: number): number =>
    this.#older === null ? Number.POSITIVE_INFINITY : (this.#older.get(client) ?? 0)

  end(): void {
    clearInterval(this.#timer)
  }

  #vector(): Map<number, number> {
    return Y.decodeStateVector(Y.encodeStateVector(this.#doc))
  }
}

function isSame(a: ReadonlyMap<number, number> | null, b: ReadonlyMap<number, number> | null): boolean {
  if (a === null || b === null) return a === b
  return a.size === b.size && [...a].every(([client, clock]) => b.get(client) === clock)
}
