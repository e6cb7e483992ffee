import type { Protocol } from './protocols/message.ts'

/** The document of the client. */
interface Kept {
  /** Resolves when all that is part of it now is on the disk; rejects when it never will be. */
  readonly durable: Promise<unknown>
}

/** Vectors that wait for their offers; a client that answers none of so many is none that counts. */
const askedMax = 64

/**
 * Tells one client what of its updates is on the disk, and never says so earlier. An update may come, be held back
 * because something is missing that it builds on, become part of the document, and be stored: each later.
 */
export class Saving {
  readonly #encoder: Protocol
  readonly #document: Kept
  readonly #send: (frame: Uint8Array) => void
  /** Updates that have come and are no part of the document. */
  #outside = 0
  /** Updates that are part of it since the disk was asked last. */
  #taken = 0
  #total = 0
  /** What the client wants to hear again when everything is saved; only the last counts, it is later than the others. */
  #echo: Uint8Array | null = null
  /** Those that wait for the disk only. */
  #echoesUnderWay = 0
  /** A client may ask before it has offered what it has changed while it was away. */
  #hasOffered: boolean
  #isScheduled = false
  /** Of vectors sent, the oldest first: is the offer that answers it one that the client counts? */
  readonly #asked: boolean[] = []

  /** @param hasOffered whether the client has answered already what everybody is asked who comes */
  constructor(encoder: Protocol, document: Kept, hasOffered: boolean, send: (frame: Uint8Array) => void) {
    this.#encoder = encoder
    this.#document = document
    this.#hasOffered = hasOffered
    this.#send = send
    if (encoder.handshake === 'weAsk' && !hasOffered) this.asked(true)
  }

  /** Is the client waiting for an echo? */
  get isWaitedFor(): boolean {
    return this.#echo !== null || this.#echoesUnderWay > 0
  }

  /** Has an offer been asked for that has not come? */
  get expectsOffer(): boolean {
    return this.#asked.length > 0
  }

  /** The client has been asked what it has. @param counted whether it waits for being told of what it answers */
  asked(counted: boolean): void {
    if (this.#asked.length < askedMax) this.#asked.push(counted)
  }

  /** An update has come. What is returned is to be called when it is part of the document. */
  came(kind: 'update' | 'offer'): () => void {
    this.#outside += 1
    if (kind === 'update') return this.#takeCounted
    const counted = this.#asked.shift() ?? true
    return counted ? this.#offeredCounted : this.#offered
  }

  /** An update has come that is not taken: nothing is saved any more. */
  refused(kind: 'update' | 'offer'): void {
    this.came(kind)
    if (kind === 'offer') this.#hasOffered = true
    const { refused = null } = this.#encoder.saves ?? {}
    if (refused !== null) this.#send(refused)
  }

  /** The client wants `echo` back. */
  echoLater(echo: Uint8Array): void {
    this.#echo = Uint8Array.from(echo)
    this.#schedule()
  }

  readonly #takeCounted = (): void => {
    this.#taken += 1
    this.#take()
  }

  readonly #offeredCounted = (): void => {
    this.#hasOffered = true
    this.#takeCounted()
  }

  readonly #offered = (): void => {
    this.#hasOffered = true
    this.#take()
  }

  #take(): void {
    this.#outside -= 1
    this.#schedule()
  }

  /** The change is committed in this turn, but not yet: the disk is asked afterwards. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(this.#ask)
  }

  readonly #ask = (): void => {
    this.#isScheduled = false
    const count = this.#taken
    this.#taken = 0
    const echo = this.#outside === 0 && this.#hasOffered ? this.#echo : null
    if (count === 0 && echo === null) return
    if (echo !== null) {
      this.#echo = null
      this.#echoesUnderWay += 1
    }
    this.#document.durable.then(
      () => this.#tell(count, echo),
      () => {},
    )
  }

  #tell(count: number, echo: Uint8Array | null): void {
    const { saves, echo: encodeEcho } = this.#encoder
    this.#total += count
    if (count > 0 && saves !== null) this.#send(saves.saved(count, this.#total))
    if (echo === null || encodeEcho === null) return
    this.#echoesUnderWay -= 1
    this.#send(encodeEcho(echo))
  }
}
