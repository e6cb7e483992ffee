import { readStateVector } from '../../update/vector.ts'
import { type Clocks, type Deletions, holdingOf, raise } from './coverage.ts'
import type { Dialect, Said } from './dialects.ts'
import { Link, type LinkEnded } from './link.ts'

/** The server that documents are copied from. */
export interface OldServer {
  readonly dialect: Dialect
  readonly url: URL
  readonly token: string | null
}

/** Something of the document: an answer to a question, or an edit that somebody has just made. */
export interface News {
  readonly kind: 'offer' | 'update'
  readonly update: Uint8Array
}

/** A document at the old server, as one of its clients sees it: the old server is asked, and told nothing. */
export class Original {
  readonly #link: Link
  readonly #heard: (news: News) => void
  /** Null while it has not said so. */
  #has: Map<number, number> | null = null
  #deleted: Deletions = new Map()

  private constructor({ dialect, url, token }: OldServer, name: string, heard: (news: News) => void) {
    this.#heard = heard
    this.#link = new Link({
      peer: 'the old server',
      url: dialect.url(url, name, token),
      hello: dialect.hello(name, token),
      secret: token,
      ask: (vector) => dialect.ask(name, vector),
      read: (message) => dialect.read(name, message),
      heard: (said) => this.#take(said),
    })
  }

  /** Rejects with `LinkEnded`. */
  static async open(old: OldServer, name: string, heard: (news: News) => void): Promise<Original> {
    const original = new Original(old, name, heard)
    await original.#link.greeted
    return original
  }

  /** What it has said it has, never more than it has; null until then. */
  get has(): Clocks | null {
    return this.#has
  }

  /** What was deleted in it when it answered last. */
  get deleted(): Deletions {
    return this.#deleted
  }

  get ended(): Promise<LinkEnded> {
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

  #take(said: Said): void {
    if (said.kind === 'vector') this.#has = readStateVector(said.vector)
    if (said.kind !== 'offer' && said.kind !== 'update') return
    const { blocks, deletions } = holdingOf(said.update)
    // An offer may hold parts that wait for one that is missing: those it does not have.
    if (said.kind === 'offer') this.#deleted = deletions
    else if (this.#has !== null) raise(this.#has, blocks)
    this.#heard(said)
  }
}
