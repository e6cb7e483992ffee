import type { Protocol } from '../protocols/message.ts'

/** The document of the client. */
interface Kept {
  /** Resolves when all that is part of it now is on the disk; rejects when it never will be. */
  readonly durable: Promise<unknown>
}

/** The client. */
export interface SaveAckTarget {
  /** Is there no room to send? What is saved meanwhile is told as one. */
  readonly isFull: boolean
  tell(frame: Uint8Array): void
  /** There is something to be told: `resume` is to be called when there is room. */
  awaitRoom(): void
}

/**
 * Tells one client what of its updates is on the disk, and never says so earlier. An update may come, be held back
 * because something is missing that it builds on, become part of the document, and be stored: each later.
 */
export class SaveAcks {
  readonly #encoder: Protocol
  readonly #document: Kept
  readonly #client: SaveAckTarget
  /** Number of the last update that has come. */
  #came = 0
  /** Updates that have come and are no part of the document. */
  #outside = 0
  /** All up to this number are part of it, or not waited for any more. */
  #coveredTo = 0
  /** The last answer to a question of ours: its number, and how many of those before it are no part of the document. */
  #answer: { readonly number: number; outside: number } | null = null
  /** Updates that are part of it since the disk was asked last. */
  #taken = 0
  #total = 0
  /** Saved, and not told yet. */
  #unsent = 0
  /** What the client wants to hear again when everything is saved; only the last counts, it is later than the others. */
  #echo: Uint8Array | null = null
  /** Those that wait for the disk only. */
  #echoesUnderWay = 0
  /** One for which everything is saved, and that has not been said again yet. */
  #unsentEcho: Uint8Array | null = null
  /** A client may ask before it has offered what it has changed while it was away. */
  #hasOffered: boolean
  #isScheduled = false
  /** Vectors that wait for their offers. */
  #asked = 0
  /** Does the client wait for being told that its next offer is saved? */
  #isOfferCounted = false
  /** How often the client has begun to count anew. */
  #restarts = 0

  /** @param hasOffered whether the client has answered already what everybody is asked who comes */
  constructor(encoder: Protocol, document: Kept, hasOffered: boolean, client: SaveAckTarget) {
    this.#encoder = encoder
    this.#document = document
    this.#hasOffered = hasOffered
    this.#client = client
    if (encoder.handshake === 'asked' || hasOffered) return
    this.#asked = 1
    this.#isOfferCounted = true
  }

  /** Is the client waiting for an echo? */
  get isWaitedFor(): boolean {
    return this.#echo !== null || this.#echoesUnderWay > 0 || this.#unsentEcho !== null
  }

  /** Has an offer been asked for that has not come? */
  get expectsOffer(): boolean {
    return this.#asked > 0
  }

  /** The client has been asked what it has. */
  asked(): void {
    this.#asked += 1
  }

  /** The client has asked what there is, and forgets what it waits for: all of it is in its next offer, which it counts. */
  restart(): void {
    this.#restarts += 1
    this.#coveredTo = this.#came
    this.#outside = 0
    this.#taken = 0
    this.#unsent = 0
    this.#isOfferCounted = true
  }

  /** An update has come. What is returned is to be called when it is part of the document. */
  came(kind: 'update' | 'offer'): () => void {
    const isAnswer = kind === 'offer' && this.#asked > 0
    if (isAnswer) return this.#answered()
    const number = this.#count()
    return () => {
      if (kind === 'offer') this.#hasOffered = true
      this.#take(number)
    }
  }

  /** It has all that the client had: what came before it is part of the document when it is. */
  #answered(): () => void {
    const answer = { number: this.#came, outside: this.#outside }
    const number = this.#isOfferCounted ? this.#count() : null
    this.#asked -= 1
    this.#isOfferCounted = false
    this.#answer = answer
    return () => {
      this.#hasOffered = true
      if (this.#answer === answer) this.#cover(answer)
      if (number !== null) this.#take(number)
      this.#schedule()
    }
  }

  #count(): number {
    this.#outside += 1
    this.#came += 1
    return this.#came
  }

  /** An update has come that is not taken: nothing is saved any more. */
  refused(kind: 'update' | 'offer'): void {
    this.came(kind)
    if (kind === 'offer') this.#hasOffered = true
    const { refused = null } = this.#encoder.saves ?? {}
    if (refused !== null) this.#client.tell(refused)
  }

  /** The client wants `echo` back. */
  echoLater(echo: Uint8Array): void {
    this.#echo = Uint8Array.from(echo)
    this.#schedule()
  }

  #cover({ number, outside }: { readonly number: number; readonly outside: number }): void {
    this.#answer = null
    if (number <= this.#coveredTo) return
    this.#coveredTo = number
    this.#outside -= outside
    this.#taken += outside
  }

  #take(number: number): void {
    if (number <= this.#coveredTo) return
    this.#outside -= 1
    this.#taken += 1
    if (this.#answer !== null && number <= this.#answer.number) this.#answer.outside -= 1
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
    const restarts = this.#restarts
    this.#document.durable.then(
      () => this.#saved(restarts === this.#restarts ? count : 0, echo),
      () => {},
    )
  }

  #saved(count: number, echo: Uint8Array | null): void {
    this.#total += count
    this.#unsent += count
    if (echo !== null) {
      this.#echoesUnderWay -= 1
      this.#unsentEcho = echo
    }
    this.resume()
  }

  /** Tells what is saved; to be called again when there is room. */
  resume(): void {
    const count = this.#unsent
    const echo = this.#unsentEcho
    if (count === 0 && echo === null) return
    const { saves, echo: encodeEcho } = this.#encoder
    if (this.#client.isFull) return this.#client.awaitRoom()
    this.#unsent = 0
    this.#unsentEcho = null
    if (count > 0 && saves !== null) this.#client.tell(saves.saved(count, this.#total))
    if (echo !== null && encodeEcho !== null) this.#client.tell(encodeEcho(echo))
  }
}
