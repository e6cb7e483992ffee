export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

/** The kind of a JSON value. A value can be changed in place only to a value of the same kind. */
export type JsonKind = 'object' | 'array' | 'string' | 'other'

export const isArray = (json: Json): json is readonly Json[] => Array.isArray(json)
export const isObject = (json: Json): json is JsonObject =>
  typeof json === 'object' && json !== null && !Array.isArray(json)

export function kindOfJson(json: Json): JsonKind {
  if (typeof json === 'string') return 'string'
  if (typeof json !== 'object' || json === null) return 'other'
  return isArray(json) ? 'array' : 'object'
}

/** A key that sets the prototype of a plain object when it is assigned. */
export const prototypeKey = '__proto__'

/** Sets an own member of an object. Unlike an assignment, this function works with every key. */
export function setMember(object: Record<string, Json>, key: string, value: Json): void {
  if (key !== prototypeKey) object[key] = value
  else Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true })
}

/** Returns the type of a value, as text for a message. */
export function jsonTypeName(data: unknown): string {
  if (data === undefined) return 'missing'
  if (data === null) return 'null'
  if (typeof data === 'number' && !Number.isFinite(data)) return String(data)
  return Array.isArray(data) ? 'an array' : `${typeof data === 'object' ? 'an' : 'a'} ${typeof data}`
}

/** Converts −0 to 0, because encoders of JSON treat these equal numbers differently. */
export const withoutSign = (number: number): number => (number === 0 ? 0 : number)

/**
 * Converts a stored plain value to JSON in the same way as `JSON.stringify`: undefined is absent (in an
 * array: null), and NaN and the infinities become null. In addition, bytes become base64, a bigint becomes
 * its digits, and unpaired surrogates become U+FFFD, because other replicas read them in this form.
 */
export function toJson(stored: unknown): Json | undefined {
  switch (typeof stored) {
    case 'string':
      return stored.toWellFormed()
    case 'boolean':
      return stored
    case 'number':
      return Number.isFinite(stored) ? withoutSign(stored) : null
    case 'bigint':
      return String(stored)
    case 'object':
      return stored === null ? null : jsonOfObject(stored)
    default:
      return undefined
  }
}

function jsonOfObject(stored: object): Json {
  if (stored instanceof Uint8Array) return Buffer.from(stored).toString('base64')
  if (Array.isArray(stored)) return stored.map((value: unknown) => toJson(value) ?? null)
  const json: Record<string, Json> = {}
  for (const [key, value] of Object.entries(stored)) {
    const read = toJson(value)
    if (read !== undefined) setMember(json, key.toWellFormed(), read)
  }
  return json
}

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
