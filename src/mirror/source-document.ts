import { readStateVector } from '../update/state-vector.ts'
import { coverageOf, type Deletions, type NextClocks, raise } from './coverage.ts'
import { MirrorConnection, type MirrorConnectionError } from './mirror-connection.ts'
import type { SourceMessage, SourceProtocol } from './source-protocols.ts'

/** The old server, from which documents are mirrored. */
export interface SourceServer {
  readonly dialect: SourceProtocol
  readonly url: URL
  readonly token: string | null
}

/** An update that the old server has sent: the answer to a request (`offer`), or a new edit (`update`). */
export interface SourceUpdate {
  readonly kind: 'offer' | 'update'
  readonly update: Uint8Array
}

/**
 * A document on the old server. The mirror connects to it as a client that sends requests, but no updates.
 */
export class SourceDocument {
  readonly #link: MirrorConnection
  readonly #onUpdate: (news: SourceUpdate) => void
  /** Clocks that the old server has; null until the server has sent its state vector. */
  #has: Map<number, number> | null = null
  #deleted: Deletions = new Map()

  private constructor(
    { dialect, url, token }: SourceServer,
    name: string,
    onUpdate: (news: SourceUpdate) => void,
  ) {
    this.#onUpdate = onUpdate
    this.#link = new MirrorConnection({
      peer: 'the old server',
      url: dialect.url(url, name, token),
      hello: dialect.hello(name, token),
      secret: token,
      ask: (vector) => dialect.ask(name, vector),
      read: (message) => dialect.read(name, message),
      onMessage: (received) => this.#take(received),
    })
  }

  /** Connects to the document on the old server. Rejects with `MirrorConnectionError`. */
  static async open(
    old: SourceServer,
    name: string,
    onUpdate: (news: SourceUpdate) => void,
  ): Promise<SourceDocument> {
    const original = new SourceDocument(old, name, onUpdate)
    await original.#link.greeted
    return original
  }

  /** Clocks that the old server is known to have; null until the server has sent its state vector. */
  get has(): NextClocks | null {
    return this.#has
  }

  /** Deletions in the last answer of the old server. */
  get deleted(): Deletions {
    return this.#deleted
  }

  get ended(): Promise<MirrorConnectionError> {
    return this.#link.ended
  }

  /**
   * Requests all deletions, and the updates that are missing in a client with this state vector. The answer
   * arrives in `onUpdate` as an offer.
   */
  async ask(vector: Uint8Array): Promise<void> {
    await this.#link.ask(vector)
  }

  pause(): void {
    this.#link.pause()
  }

  resume(): void {
    this.#link.resume()
  }

  close(): void {
    this.#link.close()
  }

  #take(received: SourceMessage): void {
    if (received.kind === 'vector') this.#has = readStateVector(received.vector)
    if (received.kind !== 'offer' && received.kind !== 'update') return
    const { blocks, deletions } = coverageOf(received.update)
    // The clocks of an offer do not count as clocks of the server, because an offer may contain pending
    // updates.
    if (received.kind === 'offer') this.#deleted = deletions
    else if (this.#has !== null) raise(this.#has, blocks)
    this.#onUpdate(received)
  }
}
