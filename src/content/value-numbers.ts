import { isArray, type Json, type JsonObject } from './json.ts'

/**
 * Numbers for values: equal value, equal number, whatever the order of keys. Exact, not a hash. A container is looked
 * at once however often it is asked for, so that comparing at every level of a tree costs no more than the tree.
 */
export class ValueNumbers {
  readonly #numbers = new Map<string, number>()
  readonly #containers = new Map<object, number>()

  of(json: Json): number {
    if (typeof json !== 'object' || json === null) return this.#intern(scalarName(json))
    const known = this.#containers.get(json)
    if (known !== undefined) return known
    const number = this.#intern(isArray(json) ? this.#arrayName(json) : this.#objectName(json))
    this.#containers.set(json, number)
    return number
  }

  #intern(name: string): number {
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    this.#numbers.set(name, this.#numbers.size)
    return this.#numbers.size - 1
  }

  #arrayName(json: readonly Json[]): string {
    return `[${json.map((value) => this.of(value)).join()}`
  }

  #objectName(json: JsonObject): string {
    const members = Object.keys(json).sort()
    return `{${members.map((key) => `${JSON.stringify(key)}${this.of(json[key] as Json)}`).join()}`
  }
}

const scalarName = (json: null | boolean | number | string): string =>
  typeof json === 'string' ? `"${json}` : String(json)
