import type { ByteRange } from '../keys.ts'

/** A map in the byte order of its keys. Keys are bytes spelled as one character each, as JavaScript compares them. */
export class SortedMap<T> {
  readonly #values = new Map<string, T>()
  readonly #names: string[] = []

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

  /** What is there now is what is gone through; changes meanwhile may or may not be seen. */
  *range({ gte, lt }: ByteRange, reverse = false): Generator<[key: Buffer, value: T]> {
    const first = this.#indexOf(gte.toString('latin1'))
    const names = this.#names.slice(first, Math.max(first, this.#indexOf(lt.toString('latin1'))))
    for (const name of reverse ? names.reverse() : names) {
      const value = this.#values.get(name)
      if (value !== undefined) yield [Buffer.from(name, 'latin1'), value]
    }
  }

  /** Index of the first key that is not smaller. */
  #indexOf(name: string): number {
    let low = 0
    let high = this.#names.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#names[middle] as string) < name) low = middle + 1
      else high = middle
    }
    return low
  }
}
