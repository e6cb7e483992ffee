import * as Y from 'yjs'
import { type ClientProtocol, encodeKeystroke } from './client-protocol.ts'
import type { LoadSocket } from './load-socket.ts'
import { clientFrame, opcodes } from './websocket-frames.ts'

/** Protocol of the measured server. */
export interface TypingProtocol {
  readonly dialect: ClientProtocol
}

/** Number of bytes that the operating system has not accepted yet, above which a typist pauses. */
const unsentBytesMax = 65_536

let clients = 0

/** A client that types at the end of a text. */
export class Typist {
  readonly client = ++clients
  /** Times in ms at which each keystroke was sent. */
  readonly sentAt: number[] = []
  readonly socket: LoadSocket
  readonly #server: TypingProtocol
  readonly #document: string

  constructor(socket: LoadSocket, server: TypingProtocol, document: string) {
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

  /** Sends keystrokes. @param character an ASCII code */
  type(count = 1, character = 97): void {
    const now = performance.now()
    const frames = Array.from({ length: count }, () => {
      const bytes = encodeKeystroke(this.client, this.sentAt.push(now) - 1, character)
      return clientFrame(opcodes.binary, this.#server.dialect.update(this.#document, bytes))
    })
    this.socket.sendFrames(count === 1 ? (frames[0] as Buffer) : Buffer.concat(frames))
  }
}

/** Counts the keystrokes that are received from some typists, even if the server merges their updates. */
export class KeystrokeTracker {
  /** Times in ms from sending to receiving a keystroke, measured while `timing` is true. */
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

/** Calls `watch` with all updates that a socket receives. */
export function trackUpdates(socket: LoadSocket, server: TypingProtocol, watch: KeystrokeTracker): void {
  socket.onMessage = (payload) => {
    const message = server.dialect.read(payload)
    if (message !== null && message.kind !== 'awareness') watch.take(message.bytes)
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Calls `send` at a constant rate with the number of calls that are due, until the returned function is
 * called.
 */
export function atRate(perSecond: number, send: (count: number) => void): () => void {
  const start = performance.now()
  let sent = 0
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - start) / 1000) * perSecond)
    // Drops calls that are more than 50 ms late, because sending them later would be a burst.
    sent = Math.max(sent, due - Math.ceil(perSecond / 20))
    if (due > sent) send(due - sent)
    sent = due
  }, 1)
  return () => clearInterval(timer)
}
