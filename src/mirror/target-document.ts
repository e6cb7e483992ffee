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
  /** URL of the document, with the token. */
  readonly url: URL
  /** Maximum size of a message to Weft in bytes. */
  readonly messageBytesMax: number
  /** Called when Weft has received an update whose dependencies are missing. */
  readonly asked: () => void
}

/**
 * Size in bytes above which an update is sent in parts. After a disconnect, parts that Weft has received are
 * not sent again.
 */
const partBytesAimed = 1024 * 1024
/** Bytes of a message in addition to the update. */
const envelopeBytes = 16

/**
 * A document in Weft. Its known clocks are durable, because Weft sends clocks only after it has stored them.
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

  /** Connects to the document. Rejects with `MirrorConnectionError`. */
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

  /** State vector with which a client requests the updates that this document lacks. */
  get vector(): Uint8Array {
    return writeStateVector(this.#has)
  }

  /**
   * Sends an update. Ends the connection if the update cannot be split into messages that Weft accepts.
   * @param sent called each time when the operating system has accepted the update or a part of it
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
   * Makes Weft prove which part of `wanted` it has. The answer includes all updates that were added before.
   * Rejects with `MirrorConnectionError`.
   */
  async prove(wanted: NextClocks): Promise<void> {
    const answer = coverageOf(await this.#link.ask(proofQuestion(wanted, this.#has)))
    takeProof(this.#has, wanted, answer.blocks)
    this.#deleted = answer.deletions
  }

  /** Returns the number of wanted clocks and deletions that Weft has not proved. */
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
