import * as Y from 'yjs'
import { type ClientProtocol, encodeKeystroke } from './client-protocol.ts'
import type { LoadSocket } from './load-socket.ts'
import { clientFrame, opcodes } from './websocket-frames.ts'

/** Who is spoken to. */
export interface TypingProtocol {
  readonly dialect: ClientProtocol
}

/** Bytes not yet taken by the operating system above which nobody types on. */
const unsentBytesMax = 65_536

let clients = 0

/** Somebody who types at the end of a text. */
export class Typist {
  readonly client = ++clients
  /** Milliseconds at which each keystroke was sent. */
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

  /** @param character an ASCII code */
  type(count = 1, character = 97): void {
    const now = performance.now()
    const frames = Array.from({ length: count }, () => {
      const bytes = encodeKeystroke(this.client, this.sentAt.push(now) - 1, character)
      return clientFrame(opcodes.binary, this.#server.dialect.update(this.#document, bytes))
    })
    this.socket.sendFrames(count === 1 ? (frames[0] as Buffer) : Buffer.concat(frames))
  }
}

/** Sees how far the keystrokes of some typists have come, however they are put together on the way. */
export class KeystrokeTracker {
  /** Milliseconds from sending to coming, while `timing`. */
  readonly latencies: number[] = []
  timing = false
  /** Keystrokes that have come. */
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

/** Has `watch` see all updates that come. */
export function trackUpdates(socket: LoadSocket, server: TypingProtocol, watch: KeystrokeTracker): void {
  socket.onMessage = (payload) => {
    const message = server.dialect.read(payload)
    if (message !== null && message.kind !== 'awareness') watch.take(message.bytes)
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Calls `send` with how many are due, evenly over time, until told to stop. */
export function atRate(perSecond: number, send: (count: number) => void): () => void {
  const start = performance.now()
  let sent = 0
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - start) / 1000) * perSecond)
    // What could not be done in time is not made up for: that would be a burst.
    sent = Math.max(sent, due - Math.ceil(perSecond / 20))
    if (due > sent) send(due - sent)
    sent = due
  }, 1)
  return () => clearInterval(timer)
}
