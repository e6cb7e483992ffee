import { readStateVector, writeStateVector } from '../../update/vector.ts'
import {
  type Clocks,
  type Deletions,
  holdingOf,
  missing,
  proofQuestion,
  takeProof,
  undeleted,
} from './coverage.ts'
import { dialects, type Said, updateMessage } from './dialects.ts'
import { Link, type LinkEnded } from './link.ts'

const dialect = dialects['y-websocket']

/** A document in Weft. What it is known to have is what Weft has said after it was safe on disk. */
export class Copy {
  readonly #link: Link
  readonly #asked: () => void
  #has = new Map<number, number>()
  #deleted: Deletions = new Map()

  private constructor(url: URL, asked: () => void) {
    this.#asked = asked
    this.#link = new Link({
      peer: 'Weft',
      url,
      hello: null,
      ask: (vector) => dialect.ask('', vector),
      read: (message) => dialect.read(message),
      heard: (said) => this.#take(said),
    })
  }

  /**
   * Rejects with `LinkEnded`.
   * @param url token included
   * @param asked told when Weft has been given what builds on something that it lacks
   */
  static async open(url: URL, asked: () => void): Promise<Copy> {
    const copy = new Copy(url, asked)
    await copy.#link.greeted
    return copy
  }

  get ended(): Promise<LinkEnded> {
    return this.#link.ended
  }

  get unsentBytes(): number {
    return this.#link.unsentBytes
  }

  /** The state vector that asks somebody else for what this one lacks. */
  get vector(): Uint8Array {
    return writeStateVector(this.#has)
  }

  /** @param sent told when the kernel has it */
  add(update: Uint8Array, sent: () => void): void {
    this.#link.send(updateMessage(update), sent)
  }

  /** Has Weft prove how much of `wanted` it has: all that was added before is considered. Rejects with `LinkEnded`. */
  async prove(wanted: Clocks): Promise<void> {
    const answer = holdingOf(await this.#link.ask(proofQuestion(wanted, this.#has)))
    takeProof(this.#has, wanted, answer.blocks)
    this.#deleted = answer.deletions
  }

  /** How many clocks and deletions of what is `wanted` are not proved. */
  lacks(wanted: Clocks, deleted: Deletions): number {
    return missing(wanted, this.#has) + undeleted(deleted, wanted, this.#deleted)
  }

  close(): void {
    this.#link.close()
  }

  #take(said: Said): void {
    if (said.kind !== 'vector') return
    this.#has = readStateVector(said.vector)
    this.#asked()
  }
}
