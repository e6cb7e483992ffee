import * as Y from 'yjs'
import { type ClientProtocol, encodeKeystroke } from './client-protocol.ts'
import { clientFrame, type LoadSocket, opcodes } from './load-socket.ts'

/** Protocol in which clients communicate with the measured server. */
export interface TypingProtocol {
  readonly dialect: ClientProtocol
}

/** Number of bytes that the operating system has not accepted yet. Above this number, a typist pauses. */
const unsentBytesMax = 65_536

let clients = 0

/** The members of a socket that a typist needs. The frames are those of a websocket, with a mask of zero. */
type TypingSocket = Pick<LoadSocket, 'sendFrames' | 'unsentBytes'>

/** A client that types keystrokes at the end of a text. */
export class Typist {
  readonly client = ++clients
  /** Times at which the keystrokes were sent, as values of `performance.now()`. */
  readonly sentAt: number[] = []
  readonly socket: TypingSocket
  readonly #server: TypingProtocol
  readonly #document: string

  constructor(socket: TypingSocket, server: TypingProtocol, document: string) {
    this.socket = socket
    this.#server = server
    this.#document = document
  }

  get sent(): number {
    return this.sentAt.length
  }

  get isHeldUp(): boolean {
    return this.socket.unsentBytes > unsentBytesMax
  }

  /** Sends keystrokes. @param character ASCII code of the typed character */
  type(count = 1, character = 97): void {
    const now = performance.now()
    const frames = Array.from({ length: count }, () => {
      const bytes = encodeKeystroke(this.client, this.sentAt.push(now) - 1, character)
      return clientFrame(opcodes.binary, this.#server.dialect.update(this.#document, bytes))
    })
    this.socket.sendFrames(count === 1 ? (frames[0] as Buffer) : Buffer.concat(frames))
  }
}

/**
 * Counts the keystrokes of some typists that a socket receives. The number is correct even if the server
 * merges updates.
 */
export class KeystrokeTracker {
  /** Times in ms between sending and receiving a keystroke. They are measured while `timing` is true. */
  readonly latencies: number[] = []
  timing = false
  /** Number of received keystrokes. */
  total = 0
  readonly #typists = new Map<number, { typist: Typist; seen: number }>()

  constructor(typists: readonly Typist[]) {
    for (const typist of typists) this.#typists.set(typist.client, { typist, seen: 0 })
  }

  seenOf(typist: Typist): number {
    return this.#typists.get(typist.client)?.seen ?? 0
  }

  take(update: Uint8Array): void {
    const now = performance.now()
    for (const [client, to] of Y.parseUpdateMeta(update).to) {
      const known = this.#typists.get(client)
      if (known === undefined || to <= known.seen) continue
      this.total += to - known.seen
      if (this.timing)
        for (const sentAt of known.typist.sentAt.slice(known.seen, to)) this.latencies.push(now - sentAt)
      known.seen = to
    }
  }
}

/** Passes all updates that a socket receives to `watch`. */
export function trackUpdates(
  socket: Pick<LoadSocket, 'onMessage'>,
  server: TypingProtocol,
  watch: KeystrokeTracker,
): void {
  socket.onMessage = (payload) => {
    const message = server.dialect.read(payload)
    if (message !== null && message.kind !== 'awareness') watch.take(message.bytes)
  }
}

/**
 * Calls `send` repeatedly, so that keystrokes are sent at a constant rate. `send` gets the number of
 * keystrokes that are due. The returned function stops the calls.
 */
export function atRate(perSecond: number, send: (count: number) => void): () => void {
  const start = performance.now()
  let sent = 0
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - start) / 1000) * perSecond)
    // Keystrokes that are more than 50 ms late are left out, because sending them would be a burst.
    sent = Math.max(sent, due - Math.ceil(perSecond / 20))
    if (due > sent) send(due - sent)
    sent = due
  }, 1)
  return () => clearInterval(timer)
}
