import { createHash, randomUUID } from 'node:crypto'

/**
 * Creates ids for the items of a call that have no id. With a seed, each run of a call creates the same ids
 * in the same order, so that a repeated call finds the items that it added before. Different calls do not
 * create the same ids.
 */
export class SeededIds {
  readonly #seed: string | null
  readonly #made = new Set<string>()

  constructor(seed: string | null = null) {
    this.#seed = seed
  }

  make(): string {
    const id = this.#seed === null ? randomUUID() : uuidOf(`${this.#seed} ${this.#made.size}`)
    this.#made.add(id)
    return id
  }

  /** Returns whether this object created the id. */
  isMade(id: string): boolean {
    return this.#made.has(id)
  }
}

/** Returns a UUID of version 8 (RFC 9562 5.8), derived from a digest. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`]
  return [...parts, hex.slice(20, 32)].join('-')
}
