import { readStateVector, writeStateVector } from '../update/state-vector.ts'
import {
  coverageOf,
  type Deletions,
  missing,
  type NextClocks,
  proofQuestion,
  takeProof,
  undeleted,
} from './coverage.ts'
import { MirrorConnection, type MirrorConnectionError } from './mirror-connection.ts'
import { type SourceMessage, sourceProtocols, updateMessage } from './source-protocols.ts'
import { type PartSizes, PartTooLargeError, splitUpdate } from './split-update.ts'

const dialect = sourceProtocols['y-websocket']

export interface TargetDocumentOptions {
  /** Websocket URL of the document, which contains the token. */
  readonly url: URL
  /** Maximum size of a message to Weft in bytes. */
  readonly messageBytesMax: number
  /** Called when Weft requests updates, because it has received an update whose dependencies are missing. */
  readonly asked: () => void
}

/**
 * Size in bytes above which an update is sent in parts. After a disconnect, only the parts that Weft has not
 * received are sent again.
 */
const partBytesAimed = 1024 * 1024
/** Maximum number of bytes in a message in addition to the update. */
const envelopeBytes = 16

/**
 * A document in Weft. The clocks that it reports are durable, because Weft sends clocks only after it has
 * stored the updates.
 */
export class TargetDocument {
  readonly #link: MirrorConnection
  readonly #asked: () => void
  readonly #partSizes: PartSizes
  #has = new Map<number, number>()
  #deleted: Deletions = new Map()

  private constructor({ url, messageBytesMax, asked }: TargetDocumentOptions) {
    this.#asked = asked
    const most = messageBytesMax - envelopeBytes
    this.#partSizes = { aimed: Math.min(partBytesAimed, most), most }
    this.#link = new MirrorConnection({
      peer: 'Weft',
      url,
      hello: null,
      secret: url.searchParams.get('token'),
      ask: (vector) => dialect.ask('', vector),
      read: (message) => dialect.read('', message),
      onMessage: (received) => this.#take(received),
    })
  }

  /** Connects to the document in Weft. Rejects with `MirrorConnectionError`. */
  static async open(options: TargetDocumentOptions): Promise<TargetDocument> {
    const copy = new TargetDocument(options)
    await copy.#link.greeted
    return copy
  }

  get ended(): Promise<MirrorConnectionError> {
    return this.#link.ended
  }

  get unsentBytes(): number {
    return this.#link.unsentBytes
  }

  /** State vector of the document, for a request of the updates that the document lacks. */
  get vector(): Uint8Array {
    return writeStateVector(this.#has)
  }

  /**
   * Sends an update to Weft. If the update cannot be split into messages that Weft accepts, ends the
   * connection.
   * @param sent called whenever the operating system has accepted the update or a part of it
   */
  add(update: Uint8Array, sent: () => void): void {
    try {
      for (const part of splitUpdate(update, this.#partSizes)) this.#link.send(updateMessage(part), sent)
    } catch (error) {
      if (!(error instanceof PartTooLargeError)) throw error
      this.#link.end(`cannot receive the whole update: ${error.message} (maxMessageBytes)`)
    }
  }

  /**
   * Requests an answer from Weft that proves which part of `wanted` Weft has. The proof includes all updates
   * that were sent before. Rejects with `MirrorConnectionError`.
   */
  async prove(wanted: NextClocks): Promise<void> {
    const answer = coverageOf(await this.#link.ask(proofQuestion(wanted, this.#has)))
    takeProof(this.#has, wanted, answer.blocks)
    this.#deleted = answer.deletions
  }

  /** Returns the number of wanted clocks and deletions for which Weft has sent no proof. */
  lacks(wanted: NextClocks, deleted: Deletions): number {
    return missing(wanted, this.#has) + undeleted(deleted, wanted, this.#deleted)
  }

  close(): void {
    this.#link.close()
  }

  #take(received: SourceMessage): void {
    if (received.kind !== 'vector') return
    this.#has = readStateVector(received.vector)
    this.#asked()
  }
}
