import { firstIndex } from '../base/search.ts'
import type { ByteRange } from './key-encoding.ts'

/**
 * A map that is sorted by the bytes of its keys. Internally, a key is a string with one character for each
 * byte, because JavaScript can compare strings.
 */
export class SortedMap<T> {
  readonly #values = new Map<string, T>()
  readonly #names: string[] = []

  get size(): number {
    return this.#names.length
  }

  /** Returns the last key; undefined if the map is empty. */
  lastKey(): Buffer | undefined {
    const name = this.#names.at(-1)
    return name === undefined ? undefined : Buffer.from(name, 'latin1')
  }

  get(key: Buffer): T | undefined {
    return this.#values.get(key.toString('latin1'))
  }

  set(key: Buffer, value: T): void {
    const name = key.toString('latin1')
    if (!this.#values.has(name)) this.#names.splice(this.#indexOf(name), 0, name)
    this.#values.set(name, value)
  }

  delete(key: Buffer): void {
    const name = key.toString('latin1')
    if (this.#values.delete(name)) this.#names.splice(this.#indexOf(name), 1)
  }

  /**
   * Yields the pairs of a range. The cost is proportional to the number of pairs that the caller reads. If
   * the map changes during the iteration, the changes are visible in the part that has not been read yet.
   */
  *range({ gte, lt }: ByteRange, reverse = false): Generator<[key: Buffer, value: T]> {
    const [first, end] = [gte.toString('latin1'), lt.toString('latin1')]
    let [from, until] = [first, end]
    for (;;) {
      const name = this.#names[reverse ? this.#indexOf(until) - 1 : this.#indexOf(from)]
      if (name === undefined || name < first || name >= end) return
      yield [Buffer.from(name, 'latin1'), this.#values.get(name) as T]
      // Continues at the smallest key that is greater than this key: this key with a zero byte appended.
      from = `${name}\0`
      until = name
    }
  }

  /** Returns the index of the first key that is at least `name`. */
  #indexOf(name: string): number {
    return firstIndex(this.#names.length, (index) => (this.#names[index] as string) >= name)
  }
}
