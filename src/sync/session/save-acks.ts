import type { Protocol } from '../protocols/message.ts'

/** The durable state of the client's document. */
interface DurableState {
  /** Resolves when the current state is durable; rejects if it never will be. */
  readonly durable: Promise<unknown>
}

/** The client. */
export interface SaveAckTarget {
  /** True if the client has too much unread. Acknowledgments then wait and are sent as one. */
  readonly isFull: boolean
  send(frame: Uint8Array): void
  /** An acknowledgment waits: call `resume` when the client has read enough. */
  awaitDrain(): void
}

/**
 * Acknowledges durable updates of one client, and never earlier. An update has up to four steps, each later than
 * the one before: it arrives, is pending while a dependency is missing, becomes part of the document, and becomes
 * durable.
 */
export class SaveAcks {
  readonly #encoder: Protocol
  readonly #document: DurableState
  readonly #client: SaveAckTarget
  /** Number of the last received update. */
  #receivedCount = 0
  /** Received updates that are not part of the document. */
  #unappliedCount = 0
  /** All updates up to this number are part of the document, or no longer counted. */
  #coveredTo = 0
  /**
   * The last requested offer. `number` is the number of the last update before it. `unapplied` counts the earlier
   * updates that are not part of the document.
   */
  #receivedOffer: { readonly number: number; unapplied: number } | null = null
  /** Updates that became part of the document since the last wait for durability. */
  #appliedCount = 0
  #savedCount = 0
  /** Durable updates without an acknowledgment. */
  #unsentCount = 0
  /** The echo that waits until everything is applied. Only the last one counts, because it covers the earlier ones. */
  #echo: Uint8Array | null = null
  /** Echoes whose updates are applied, and not durable yet. */
  #committingEchoes = 0
  /** An echo whose updates are durable, and that is not sent yet. */
  #unsentEcho: Uint8Array | null = null
  /** Whether the client has sent its first offer. A client may request an echo before it. */
  #hasOffered: boolean
  #isScheduled = false
  /** State vectors of the server without an offer yet. */
  #requestedOffers = 0
  /** Whether the client expects an acknowledgment of its next offer. */
  #isOfferCounted = false
  /** Number of times that the client has restarted its count. */
  #restarts = 0

  /** @param hasOffered whether the client has answered the first state vector of the server */
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

  /** True if a requested offer has not arrived. */
  get expectsOffer(): boolean {
    return this.#requestedOffers > 0
  }

  /** The server has sent a state vector. */
  offerRequested(): void {
    this.#requestedOffers += 1
  }

  /**
   * The client has sent a state vector, and resets its count: its next offer contains all earlier updates, and
   * counts as one.
   */
  restart(): void {
    this.#restarts += 1
    this.#coveredTo = this.#receivedCount
    this.#unappliedCount = 0
    this.#appliedCount = 0
    this.#unsentCount = 0
    this.#isOfferCounted = true
  }

  /** Counts a received update. The caller calls the returned function when the update is part of the document. */
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
   * Counts a requested offer. It contains all state of the client: when it is part of the document, so are all
   * earlier updates.
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

  /** Counts an update that is dropped. Later acknowledgments never cover it. */
  rejected(kind: 'update' | 'offer'): void {
    this.received(kind)
    if (kind === 'offer') this.#hasOffered = true
    const { rejected = null } = this.#encoder.saves ?? {}
    if (rejected !== null) this.#client.send(rejected)
  }

  /** Sends `echo` back when all updates before it are durable. */
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

  /** Waits for durability after this tick, when the append of the change has started. */
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

  /** Sends due acknowledgments. Call it again when the client has read enough. */
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
