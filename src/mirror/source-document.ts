import { readStateVector } from '../update/state-vector.ts'
import { coverageOf, type Deletions, type NextClocks, raise } from './coverage.ts'
import { MirrorConnection, type MirrorConnectionError } from './mirror-connection.ts'
import type { SourceMessage, SourceProtocol } from './source-protocols.ts'

/** The server that documents are copied from. */
export interface SourceServer {
  readonly dialect: SourceProtocol
  readonly url: URL
  readonly token: string | null
}

/** Something of the document: an answer to a question, or an edit that somebody has just made. */
export interface SourceUpdate {
  readonly kind: 'offer' | 'update'
  readonly update: Uint8Array
}

/** A document at the old server, as one of its clients sees it: the old server is asked, and told nothing. */
export class SourceDocument {
  readonly #link: MirrorConnection
  readonly #onUpdate: (news: SourceUpdate) => void
  /** Null while it has not said so. */
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

  /** Rejects with `MirrorConnectionError`. */
  static async open(
    old: SourceServer,
    name: string,
    onUpdate: (news: SourceUpdate) => void,
  ): Promise<SourceDocument> {
    const original = new SourceDocument(old, name, onUpdate)
    await original.#link.greeted
    return original
  }

  /** What it has said it has, never more than it has; null until then. */
  get has(): NextClocks | null {
    return this.#has
  }

  /** What was deleted in it when it answered last. */
  get deleted(): Deletions {
    return this.#deleted
  }

  get ended(): Promise<MirrorConnectionError> {
    return this.#link.ended
  }

  /** Has it tell, as an offer, what somebody with this state vector lacks, and its deletions. */
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
    // An offer may hold parts that wait for one that is missing: those it does not have.
    if (received.kind === 'offer') this.#deleted = deletions
    else if (this.#has !== null) raise(this.#has, blocks)
    this.#onUpdate(received)
  }
}
