import { setTimeout as sleep } from 'node:timers/promises'
import * as Y from 'yjs'
import { type ClientProtocol, encodeKeystroke } from './client-protocol.ts'
import { during } from './cpu.ts'
import { clientFrame, type LoadSocket, opcodes } from './load-socket.ts'
import { quantile, sum } from './measure.ts'
import { type Outcome, per, type TypingFigure } from './scenario.ts'

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

/** The members of a typist that a tracker needs. */
type TrackedTypist = Pick<Typist, 'client' | 'sent' | 'sentAt'>

/** Keystrokes of a typist that a client has received. */
interface Seen {
  readonly typist: TrackedTypist
  /** Number of the last received keystroke. */
  last: number
  /** Number of received keystrokes. It differs from `last` after a gap or a repetition. */
  count: number
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
  /** Called after each update. */
  onTaken: () => void = () => {}
  readonly #typists = new Map<number, Seen>()
  readonly #own: number | undefined
  #strange = 0

  /** @param own client whose keystrokes do not count; many servers send a client what it has typed itself */
  constructor(typists: readonly TrackedTypist[], own?: Typist) {
    for (const typist of typists) this.#typists.set(typist.client, { typist, last: 0, count: 0 })
    this.#own = own?.client
  }

  seenOf(typist: Typist): number {
    return this.#typists.get(typist.client)?.last ?? 0
  }

  get isComplete(): boolean {
    return [...this.#typists.values()].every(({ typist, last }) => last === typist.sent)
  }

  /** Returns what the server has done to the keystrokes, if they did not arrive exactly as they were sent. */
  get fault(): string | null {
    for (const { typist, last, count } of this.#typists.values())
      if (count < typist.sent)
        return `${typist.sent - count} of ${typist.sent} keystrokes did not arrive (last: ${last})`
    return this.#strange === 0 ? null : `${this.#strange} keystrokes arrived that no client has typed`
  }

  take(update: Uint8Array): void {
    const now = performance.now()
    const { from, to: ends } = Y.parseUpdateMeta(update)
    for (const [client, to] of ends) {
      const known = this.#typists.get(client)
      const start = from.get(client) ?? 0
      if (known === undefined) {
        if (client !== this.#own) this.#strange += to - start
        continue
      }
      known.count += to - start
      if (to <= known.last) continue
      this.total += to - known.last
      if (this.timing)
        for (const sentAt of known.typist.sentAt.slice(known.last, to)) this.latencies.push(now - sentAt)
      known.last = to
    }
    this.onTaken()
  }
}

/** Time in ms without a keystroke after which the missing ones count as lost. */
const quietMs = 4_000

/**
 * Waits until all keystrokes have arrived.
 * @throws Error if keystrokes are missing, or if there are others
 */
export async function expectExact(trackers: readonly KeystrokeTracker[]): Promise<void> {
  const arrived = (): number => trackers.reduce((sum, { total }) => sum + total, 0)
  let [before, deadline] = [-1, 0]
  while (trackers.some(({ isComplete }) => !isComplete)) {
    if (arrived() > before) [before, deadline] = [arrived(), performance.now() + quietMs]
    if (performance.now() > deadline) break
    await sleep(5)
  }
  for (const { fault } of trackers) if (fault !== null) throw new Error(fault)
}

/**
 * Measures a part of the typing.
 * @param receivers number of connections to which the server sends a keystroke, for each one that is counted
 */
export async function measureTyping(
  server: { readonly pid: number | null },
  trackers: readonly KeystrokeTracker[],
  seconds: number,
  receivers = 1,
): Promise<Outcome<TypingFigure>> {
  const counted = (): number => sum(trackers.map(({ total }) => total))
  const before = counted()
  for (const tracker of trackers) tracker.timing = true
  const usage = await during(server, () => sleep(seconds * 1000))
  for (const tracker of trackers) tracker.timing = false
  const delivered = (counted() - before) * receivers
  const times = trackers.flatMap(({ latencies }) => latencies)
  return {
    figures: {
      cpu: per(usage.microseconds, delivered),
      delivered: per(delivered, usage.seconds),
      p50: quantile(times, 0.5),
      p99: quantile(times, 0.99),
    },
    usage,
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
