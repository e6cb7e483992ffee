import { createHash, randomUUID } from 'node:crypto'

/**
 * Ids for items of a call that have no id. With a seed, the ids are the same in the same order each time, so that a
 * repeated call finds the items that it added before. Other calls do not create the same ids.
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

/** RFC 9562 5.8: a UUID of version 8, derived from a digest. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`]
  return [...parts, hex.slice(20, 32)].join('-')
}
