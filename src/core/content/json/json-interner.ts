import { isArray, type Json, type JsonObject } from './json.ts'

/**
 * Assigns numbers to values. Equal values have equal numbers, regardless of the order of their keys. The
 * numbers are exact, unlike hashes. Each container is read only once, so comparisons at every level of a tree
 * cost no more than one pass over the tree.
 */
export class JsonInterner {
  readonly #scalars = new Map<Json, number>()
  /** Numbers of containers, by their content. */
  readonly #contents = new Map<string, number>()
  readonly #containers = new Map<object, number>()
  #next = 0

  of(json: Json): number {
    if (typeof json !== 'object' || json === null) return this.#intern(this.#scalars, json)
    const known = this.#containers.get(json)
    if (known !== undefined) return known
    const number = this.#intern(this.#contents, isArray(json) ? this.#elements(json) : this.#members(json))
    this.#containers.set(json, number)
    return number
  }

  #intern<T>(numbers: Map<T, number>, value: T): number {
    const known = numbers.get(value)
    if (known !== undefined) return known
    numbers.set(value, this.#next)
    this.#next += 1
    return this.#next - 1
  }

  #elements(json: readonly Json[]): string {
    return `[${json.map((value) => this.of(value)).join()}`
  }

  #members(json: JsonObject): string {
    const keys = Object.keys(json).sort()
    return `{${keys.map((key) => `${JSON.stringify(key)}${this.of(json[key] as Json)}`).join()}`
  }
}
