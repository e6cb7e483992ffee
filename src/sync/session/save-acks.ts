import type { Protocol } from '../protocols/message.ts'

/** The document of the client. */
interface DurableState {
  /** Resolves when all that is part of it now is on the disk; rejects when it never will be. */
  readonly durable: Promise<unknown>
}

/** The client. */
export interface SaveAckTarget {
  /** Is there no room to send? What is saved meanwhile is told as one. */
  readonly isFull: boolean
  send(frame: Uint8Array): void
  /** There is something to be told: `resume` is to be called when there is room. */
  awaitDrain(): void
}

/**
 * Tells one client what of its updates is on the disk, and never says so earlier. An update may come, be held back
 * because something is missing that it builds on, become part of the document, and be stored: each later.
 */
export class SaveAcks {
  readonly #encoder: Protocol
  readonly #document: DurableState
  readonly #client: SaveAckTarget
  /** Number of the last update that has come. */
  #receivedCount = 0
  /** Updates that have come and are no part of the document. */
  #unappliedCount = 0
  /** All up to this number are part of it, or not waited for any more. */
  #coveredTo = 0
  /** The last answer to a question of ours: its number, and how many of those before it are no part of the document. */
  #receivedOffer: { readonly number: number; unapplied: number } | null = null
  /** Updates that are part of it since the disk was asked last. */
  #appliedCount = 0
  #savedCount = 0
  /** Saved, and not told yet. */
  #unsentCount = 0
  /** What the client wants to hear again when everything is saved; only the last counts, it is later than the others. */
  #echo: Uint8Array | null = null
  /** Those that wait for the disk only. */
  #committingEchoes = 0
  /** One for which everything is saved, and that has not been said again yet. */
  #unsentEcho: Uint8Array | null = null
  /** A client may ask before it has offered what it has changed while it was away. */
  #hasOffered: boolean
  #isScheduled = false
  /** Vectors that wait for their offers. */
  #requestedOffers = 0
  /** Does the client wait for being told that its next offer is saved? */
  #isOfferCounted = false
  /** How often the client has begun to count anew. */
  #restarts = 0

  /** @param hasOffered whether the client has answered already what everybody is asked who comes */
  constructor(encoder: Protocol, document: DurableState, hasOffered: boolean, client: SaveAckTarget) {
    this.#encoder = encoder
    this.#document = document
    this.#hasOffered = hasOffered
    this.#client = client
    if (encoder.handshake === 'clientFirst' || hasOffered) return
    this.#requestedOffers = 1
    this.#isOfferCounted = true
  }

  /** Is the client waiting for an echo? */
  get isEchoPending(): boolean {
    return this.#echo !== null || this.#committingEchoes > 0 || this.#unsentEcho !== null
  }

  /** Has an offer been asked for that has not come? */
  get expectsOffer(): boolean {
    return this.#requestedOffers > 0
  }

  /** The client has been asked what it has. */
  offerRequested(): void {
    this.#requestedOffers += 1
  }

  /** The client has asked what there is, and forgets what it waits for: all of it is in its next offer, which it counts. */
  restart(): void {
    this.#restarts += 1
    this.#coveredTo = this.#receivedCount
    this.#unappliedCount = 0
    this.#appliedCount = 0
    this.#unsentCount = 0
    this.#isOfferCounted = true
  }

  /** An update has come. What is returned is to be called when it is part of the document. */
  received(kind: 'update' | 'offer'): () => void {
    const isAnswer = kind === 'offer' && this.#requestedOffers > 0
    if (isAnswer) return this.#receiveOffer()
    const number = this.#count()
    return () => {
      if (kind === 'offer') this.#hasOffered = true
      this.#applied(number)
    }
  }

  /** It has all that the client had: what came before it is part of the document when it is. */
  #receiveOffer(): () => void {
    const receivedOffer = { number: this.#receivedCount, unapplied: this.#unappliedCount }
    const number = this.#isOfferCounted ? this.#count() : null
    this.#requestedOffers -= 1
    this.#isOfferCounted = false
    this.#receivedOffer = receivedOffer
    return () => {
      this.#hasOffered = true
      if (this.#receivedOffer === receivedOffer) this.#cover(receivedOffer)
      if (number !== null) this.#applied(number)
      this.#schedule()
    }
  }

  #count(): number {
    this.#unappliedCount += 1
    this.#receivedCount += 1
    return this.#receivedCount
  }

  /** An update has come that is not taken: nothing is saved any more. */
  rejected(kind: 'update' | 'offer'): void {
    this.received(kind)
    if (kind === 'offer') this.#hasOffered = true
    const { rejected = null } = this.#encoder.saves ?? {}
    if (rejected !== null) this.#client.send(rejected)
  }

  /** The client wants `echo` back. */
  echoLater(echo: Uint8Array): void {
    this.#echo = Uint8Array.from(echo)
    this.#schedule()
  }

  #cover({ number, unapplied }: { readonly number: number; readonly unapplied: number }): void {
    this.#receivedOffer = null
    if (number <= this.#coveredTo) return
    this.#coveredTo = number
    this.#unappliedCount -= unapplied
    this.#appliedCount += unapplied
  }

  #applied(number: number): void {
    if (number <= this.#coveredTo) return
    this.#unappliedCount -= 1
    this.#appliedCount += 1
    if (this.#receivedOffer !== null && number <= this.#receivedOffer.number)
      this.#receivedOffer.unapplied -= 1
    this.#schedule()
  }

  /** The change is committed in this turn, but not yet: the disk is asked afterwards. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(this.#awaitDurable)
  }

  readonly #awaitDurable = (): void => {
    this.#isScheduled = false
    const count = this.#appliedCount
    this.#appliedCount = 0
    const echo = this.#unappliedCount === 0 && this.#hasOffered ? this.#echo : null
    if (count === 0 && echo === null) return
    if (echo !== null) {
      this.#echo = null
      this.#committingEchoes += 1
    }
    const restarts = this.#restarts
    this.#document.durable.then(
      () => this.#saved(restarts === this.#restarts ? count : 0, echo),
      () => {},
    )
  }

  #saved(count: number, echo: Uint8Array | null): void {
    this.#savedCount += count
    this.#unsentCount += count
    if (echo !== null) {
      this.#committingEchoes -= 1
      this.#unsentEcho = echo
    }
    this.resume()
  }

  /** Tells what is saved; to be called again when there is room. */
  resume(): void {
    const count = this.#unsentCount
    const echo = this.#unsentEcho
    if (count === 0 && echo === null) return
    const { saves, echo: encodeEcho } = this.#encoder
    if (this.#client.isFull) return this.#client.awaitDrain()
    this.#unsentCount = 0
    this.#unsentEcho = null
    if (count > 0 && saves !== null) this.#client.send(saves.saved(count, this.#savedCount))
    if (echo !== null && encodeEcho !== null) this.#client.send(encodeEcho(echo))
  }
}
