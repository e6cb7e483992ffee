import { createHash, randomUUID } from 'node:crypto'

/**
 * Ids for what a call adds and gives no id. With a seed they are the same, in the same order, each time: what a call that
 * is made again has added before is found by them. Nobody else makes the same ones.
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

  /** Whether an id is from here. */
  isMade(id: string): boolean {
    return this.#made.has(id)
  }
}

/** RFC 9562 5.8: a UUID of version 8, made of a digest. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`]
  return [...parts, hex.slice(20, 32)].join('-')
}
