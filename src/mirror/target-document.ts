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
  /** Token included. */
  readonly url: URL
  /** Largest message that Weft takes, in bytes. */
  readonly messageBytesMax: number
  /** Told when Weft has been given what builds on something that it lacks. */
  readonly asked: () => void
}

/** Larger updates go over in parts: what Weft has of them is not sent again when the connection breaks. */
const partBytesAimed = 1024 * 1024
/** What a message has besides the update. */
const envelopeBytes = 16

/** A document in Weft. What it is known to have is what Weft has said after it was safe on disk. */
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

  /** Rejects with `MirrorConnectionError`. */
  static async open(parts: TargetDocumentOptions): Promise<TargetDocument> {
    const copy = new TargetDocument(parts)
    await copy.#link.greeted
    return copy
  }

  get ended(): Promise<MirrorConnectionError> {
    return this.#link.ended
  }

  get unsentBytes(): number {
    return this.#link.unsentBytes
  }

  /** The state vector that asks somebody else for what this one lacks. */
  get vector(): Uint8Array {
    return writeStateVector(this.#has)
  }

  /**
   * Ends the connection for an update that cannot be cut into messages that Weft takes.
   * @param sent told when the kernel has it, or a part of it
   */
  add(update: Uint8Array, sent: () => void): void {
    try {
      for (const part of splitUpdate(update, this.#partSizes)) this.#link.send(updateMessage(part), sent)
    } catch (error) {
      if (!(error instanceof PartTooLargeError)) throw error
      this.#link.end(`does not get all of it: ${error.message} (maxMessageBytes)`)
    }
  }

  /** Has Weft prove how much of `wanted` it has: all that was added before is considered. Rejects with `MirrorConnectionError`. */
  async prove(wanted: NextClocks): Promise<void> {
    const answer = coverageOf(await this.#link.ask(proofQuestion(wanted, this.#has)))
    takeProof(this.#has, wanted, answer.blocks)
    this.#deleted = answer.deletions
  }

  /** How many clocks and deletions of what is `wanted` are not proved. */
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
