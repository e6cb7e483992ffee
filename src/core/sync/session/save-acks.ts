import type { Protocol } from '../protocols/message.ts'

/** The document of the client, reduced to its durability. */
interface DurableState {
  /** Resolves when the current state is durable. Rejects if this state will never be durable. */
  readonly durable: Promise<unknown>
}

/** The session of the client that receives the acknowledgments. */
interface SaveAckTarget {
  /** True if the client has too many unread bytes. Acknowledgments then wait, and are later joined to one. */
  readonly isFull: boolean
  send(frame: Uint8Array): void
  /**
   * Called when an acknowledgment waits because the client is full. The callee must call `SaveAcks.resume`
   * when the client has read enough.
   */
  awaitDrain(): void
}

/**
 * Acknowledges the updates of one client when they are durable. An update has up to four states, in this
 * order: it has arrived; it is pending while a dependency is missing; it is part of the document; it is
 * durable.
 */
export class SaveAcks {
  readonly #encoder: Protocol
  readonly #document: DurableState
  readonly #client: SaveAckTarget
  /**
   * Number of received updates. Updates are numbered from 1, so this is also the number of the last received
   * update.
   */
  #receivedCount = 0
  /** Number of received updates that are not yet part of the document. */
  #unappliedCount = 0
  /**
   * Number of an update: this update and all earlier ones are part of the document, or are no longer counted.
   */
  #coveredTo = 0
  /**
   * The last received offer that the server had requested. `number` is the number of the last update before
   * the offer. `unapplied` is the number of earlier updates that are not yet part of the document.
   */
  #receivedOffer: { readonly number: number; unapplied: number } | null = null
  /** Number of updates that have become part of the document since the last wait for durability started. */
  #appliedCount = 0
  #savedCount = 0
  /** Number of durable updates for which no acknowledgment has been sent. */
  #unsentCount = 0
  /**
   * The requested echo that waits until all updates are part of the document. A newer echo replaces it,
   * because the newer echo also covers the earlier updates.
   */
  #echo: Uint8Array | null = null
  /** Number of echoes whose updates are part of the document, but not yet durable. */
  #committingEchoes = 0
  /** The echo whose updates are durable and that has not been sent yet. */
  #unsentEcho: Uint8Array | null = null
  /**
   * True if the first offer of the client has been applied or rejected. A client may request an echo before
   * its first offer; the echo then waits.
   */
  #hasOffered: boolean
  #isScheduled = false
  /** Number of state vectors that the server has sent and for which no offer has arrived yet. */
  #requestedOffers = 0
  /** True if the client expects an acknowledgment of its next offer. */
  #isOfferCounted = false
  /** Number of times that the client has restarted its count of updates (`restart`). */
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

  /** Counts a requested offer. Must be called when the server has sent a state vector. */
  offerRequested(): void {
    this.#requestedOffers += 1
  }

  /**
   * Must be called when the client has sent a state vector. The client then restarts its count of updates:
   * its next offer contains all earlier updates and counts as one update.
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
   * Counts a received update. Returns a function; the caller must call it when the update is part of the
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
   * Handles an offer that the server had requested. The offer contains the whole state of the client.
   * Therefore, when the offer is part of the document, all earlier updates are also part of it.
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

  /**
   * Counts an update that was dropped. It never becomes part of the document, so no acknowledgment covers it.
   */
  rejected(kind: 'update' | 'offer'): void {
    this.received(kind)
    if (kind === 'offer') this.#hasOffered = true
    const { rejected = null } = this.#encoder.saves ?? {}
    if (rejected !== null) this.#client.send(rejected)
  }

  /** Schedules an echo: sends `echo` back when all earlier updates of the client are durable. */
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
   * Starts to wait for durability at the end of the current callback, because the append of the change has
   * started by then.
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

  /**
   * Sends the acknowledgments that are due, unless the client is full. Call it again when the client has read
   * enough.
   */
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
