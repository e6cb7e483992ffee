import type { Protocol } from '../protocols/message.ts'

/** The document of the client. Only its durability is needed here. */
interface DurableState {
  /** Resolves when the current state is durable; rejects if it never will be. */
  readonly durable: Promise<unknown>
}

/** The client that receives acknowledgments. */
export interface SaveAckTarget {
  /** True if the client has too many unread bytes. Acknowledgments then wait, and are later sent as one. */
  readonly isFull: boolean
  send(frame: Uint8Array): void
  /** Called when an acknowledgment waits. `resume` must be called when the client has read enough. */
  awaitDrain(): void
}

/**
 * Acknowledges updates of one client, and never before they are durable. An update has up to four states, in
 * this order: it has arrived; it is pending while a dependency is missing; it is part of the document; it is
 * durable.
 */
export class SaveAcks {
  readonly #encoder: Protocol
  readonly #document: DurableState
  readonly #client: SaveAckTarget
  /** Number of received updates, which is also the number of the last one. */
  #receivedCount = 0
  /** Number of received updates that are not part of the document. */
  #unappliedCount = 0
  /** All updates up to this number are part of the document, or are no longer counted. */
  #coveredTo = 0
  /**
   * The last offer that the server has requested. `number` is the number of the last update before the offer.
   * `unapplied` counts the earlier updates that are not part of the document.
   */
  #receivedOffer: { readonly number: number; unapplied: number } | null = null
  /** Number of updates that became part of the document since the last wait for durability. */
  #appliedCount = 0
  #savedCount = 0
  /** Number of durable updates without an acknowledgment. */
  #unsentCount = 0
  /**
   * The echo that waits until all updates are applied. A newer echo replaces it, because the newer one also
   * covers the earlier updates.
   */
  #echo: Uint8Array | null = null
  /** Number of echoes whose updates are applied but not durable. */
  #committingEchoes = 0
  /** An echo whose updates are durable and that has not been sent. */
  #unsentEcho: Uint8Array | null = null
  /** True if the client has sent its first offer. A client may request an echo before its first offer. */
  #hasOffered: boolean
  #isScheduled = false
  /** Number of state vectors that the server has sent and for which no offer has arrived. */
  #requestedOffers = 0
  /** True if the client expects an acknowledgment of its next offer. */
  #isOfferCounted = false
  /** Number of times that the client has restarted its count of updates. */
  #restarts = 0

  /** @param hasOffered true if the client has replied to the first state vector of the server */
  constructor(encoder: Protocol, document: DurableState, hasOffered: boolean, client: SaveAckTarget) {
    this.#encoder = encoder
    this.#document = document
    this.#hasOffered = hasOffered
    this.#client = client
    if (encoder.handshake === 'clientFirst' || hasOffered) return
    this.#requestedOffers = 1
    this.#isOfferCounted = true
  }

  /** True if the client waits for an echo. */
  get isEchoPending(): boolean {
    return this.#echo !== null || this.#committingEchoes > 0 || this.#unsentEcho !== null
  }

  /** True if a requested offer has not arrived yet. */
  get expectsOffer(): boolean {
    return this.#requestedOffers > 0
  }

  /** Must be called when the server has sent a state vector. */
  offerRequested(): void {
    this.#requestedOffers += 1
  }

  /**
   * Must be called when the client has sent a state vector, which resets the count of the client: its next
   * offer contains all earlier updates and counts as one update.
   */
  restart(): void {
    this.#restarts += 1
    this.#coveredTo = this.#receivedCount
    this.#unappliedCount = 0
    this.#appliedCount = 0
    this.#unsentCount = 0
    this.#isOfferCounted = true
  }

  /**
   * Counts a received update. The caller must call the returned function when the update is part of the
   * document.
   */
  received(kind: 'update' | 'offer'): () => void {
    const isAnswer = kind === 'offer' && this.#requestedOffers > 0
    if (isAnswer) return this.#receiveOffer()
    const number = this.#count()
    return () => {
      if (kind === 'offer') this.#hasOffered = true
      this.#applied(number)
    }
  }

  /**
   * Counts a requested offer. The offer contains the whole state of the client: when the offer is part of the
   * document, all earlier updates are also part of it.
   */
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

  /** Counts an update that was dropped. Later acknowledgments never cover this update. */
  rejected(kind: 'update' | 'offer'): void {
    this.received(kind)
    if (kind === 'offer') this.#hasOffered = true
    const { rejected = null } = this.#encoder.saves ?? {}
    if (rejected !== null) this.#client.send(rejected)
  }

  /** Sends `echo` back when all earlier updates are durable. */
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

  /**
   * Starts to wait for durability at the end of the current callback. By then, the append of the change has
   * started.
   */
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

  /** Sends the acknowledgments that are due. Call it again when the client has read enough. */
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
