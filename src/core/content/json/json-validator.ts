import { limits } from '../../model/limits.ts'
import { contentLimit, invalidContent } from '../content-error.ts'
import { isObject, type Json, type JsonObject, jsonTypeName, setMember, withoutSign } from './json.ts'
import { pointerTo } from './pointer.ts'

/**
 * Copies a JSON value into a form that is safe to store: unpaired surrogates in strings and keys become
 * U+FFFD, and −0 becomes 0. Formats that contain JSON values read their other parts with `within`, so that errors have the
 * position in the whole data.
 * @throws ApiError INVALID_ARGUMENT if a value is not JSON or two keys become equal (both with the position),
 * if values are nested more than 64 levels deep inside `data`, or if there are more than 200,000 values
 */
export class JsonValidator {
  readonly #path: (string | number)[] = []
  #nodes = 0

  /** Checks and copies a value. */
  read(data: unknown): Json {
    // The container itself does not count as a level, because it is the root or an operation of a delta.
    return this.#value(data, -1)
  }

  /** Counts a part of the data that is not a JSON value, but costs as much as a value. */
  count(): void {
    this.#nodes += 1
    if (this.#nodes > limits.nodes)
      throw contentLimit(`data must have at most ${limits.nodes} values; it has more`)
  }

  /** Returns a member that must be an object of JSON values if it is present. */
  object(name: string, data: unknown): JsonObject {
    if (data === undefined) return {}
    return this.within(name, () => {
      const json = typeof data === 'object' ? this.read(data) : null
      if (json !== null && isObject(json)) return json
      throw this.problem(`must be an object, not ${jsonTypeName(data)}`)
    })
  }

  /** Returns the elements of a member that must be an array if it is present. */
  list<T>(name: string, data: unknown, read: (element: unknown) => T): readonly T[] {
    if (data === undefined) return []
    return this.within(name, () => {
      if (!Array.isArray(data)) throw this.problem(`must be an array, not ${jsonTypeName(data)}`)
      return this.elements(data, read)
    })
  }

  elements = <T>(data: readonly unknown[], read: (element: unknown) => T): readonly T[] =>
    Array.from(data, (element, index) => this.within(index, () => read(element)))

  /** Reads a part of the data. Errors meanwhile have its place. */
  within<T>(step: string | number, read: () => T): T {
    this.#path.push(step)
    const result = read()
    this.#path.pop()
    return result
  }

  problem = (problem: string): Error => invalidContent(`${this.place} ${problem}`)

  problemAt = (step: string, problem: string): Error => this.within(step, () => this.problem(problem))

  /** The place of the part that is read, as a JSON pointer. */
  get place(): string {
    return pointerTo(this.#path)
  }

  #value(data: unknown, depth: number): Json {
    this.count()
    if (typeof data === 'string') return data.toWellFormed()
    if (data === null || typeof data === 'boolean') return data
    if (typeof data === 'number' && Number.isFinite(data)) return withoutSign(data)
    if (typeof data !== 'object')
      throw invalidContent(`${this.place} must be a JSON value, not ${jsonTypeName(data)}`)
    if (depth >= limits.jsonDepth) {
      throw contentLimit(`data must be nested at most ${limits.jsonDepth} levels deep; it is deeper`)
    }
    return Array.isArray(data) ? this.#array(data, depth) : this.#object(data, depth)
  }

  #array(data: readonly unknown[], depth: number): Json {
    return Array.from(data, (value, index) => {
      this.#path.push(index)
      const read = this.#value(value, depth + 1)
      this.#path.pop()
      return read
    })
  }

  #object(data: object, depth: number): Json {
    if (!isPlain(data)) throw invalidContent(`${this.place} must be a JSON value`)
    const read: Record<string, Json> = {}
    for (const [given, value] of Object.entries(data)) {
      const key = given.toWellFormed()
      this.#path.push(key)
      if (key !== given && (Object.hasOwn(data, key) || Object.hasOwn(read, key)))
        throw invalidContent(`${this.place}: two keys are the same when unpaired surrogates become U+FFFD`)
      setMember(read, key, this.#value(value, depth + 1))
      this.#path.pop()
    }
    return read
  }
}

/** Returns the start of a name in quotes, for a message. */
export const quotedName = (name: string): string => JSON.stringify(name.slice(0, 50).toWellFormed())

function isPlain(data: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(data)
  return prototype === Object.prototype || prototype === null
}
