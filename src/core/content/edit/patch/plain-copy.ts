import * as Y from 'yjs'
import { type ApiError, invalid } from '../../../base/errors.ts'
import { memoized } from '../../../base/maps.ts'
import { limits } from '../../../model/limits.ts'
import { isArray, isObject, type Json, setMember, toJson } from '../../json/json.ts'
import { Output } from '../../output.ts'
import { readElement, storedForm } from '../../stored/shared-values.ts'
import { isContainer, ListView, ObjectView, SharedCopy, type Value } from './overlay.ts'

/** Maximum number of UTF-16 units in the values that one patch copies and moves. */
const copiedCharactersMax = 16_777_216

/** Reads values of the overlay. One reader counts the work of one patch. */
export class PlainReader {
  readonly #output = new Output()
  /** JSON views of shared texts and XML, which may be long. */
  readonly #known = new Map<object, Json>()
  #nodes = 0
  #characters = 0

  /**
   * Copies a value, in plain form. Shared texts and XML fragments become a `SharedCopy`.
   * @param fail returns the error for a value that has no plain form
   * @throws ApiError INVALID_ARGUMENT if the copies of the patch exceed a limit; RESOURCE_EXHAUSTED as for
   * `Output`
   */
  copy(value: Value, fail: (problem: string) => ApiError, depth = 0): unknown {
    this.#count(1, 0)
    if (depth > limits.jsonDepth)
      throw tooLarge(`a value is nested more than ${limits.jsonDepth} levels deep`)
    if (value instanceof ObjectView) {
      const copied = {}
      for (const [key, member] of value.entries()) {
        this.#count(0, key.length)
        setMember(copied, key, this.copy(member, fail, depth + 1) as Json)
      }
      return copied
    }
    if (value instanceof ListView) {
      const copied: unknown[] = []
      for (const element of value.values()) copied.push(this.copy(element, fail, depth + 1))
      return copied
    }
    const copied = this.#copyLeaf(value, fail)
    if (typeof copied === 'string') this.#count(0, copied.length)
    else if (copied instanceof SharedCopy) this.#count(0, copied.stored.json.length)
    else if (copied instanceof Uint8Array) this.#count(0, copied.length)
    return copied
  }

  /**
   * Returns whether a value is equal to JSON, regardless of the order of keys. The time is linear in the size
   * of `json`.
   */
  equals(value: Value, json: Json): boolean {
    if (value instanceof ObjectView) {
      if (!isObject(json)) return false
      const keys = Object.keys(json)
      if (keys.length !== value.size) return false
      return keys.every((key) => this.equals(value.get(key), json[key] as Json))
    }
    if (value instanceof ListView) {
      if (!isArray(json) || json.length !== value.length) return false
      let index = 0
      for (const element of value.values()) {
        if (!this.equals(element, json[index] as Json)) return false
        index += 1
      }
      return true
    }
    if (value === undefined || (typeof json === 'object' && json !== null)) {
      // A subdocument is the only value without members whose JSON view is an object.
      return value instanceof Y.Doc && isObject(json) && equalScalars(this.#leaf(value), json)
    }
    return this.#leaf(value) === json
  }

  /** Describes a value for a message. */
  describe(value: Value): string {
    if (value instanceof ObjectView) return `an object with ${counted(value.size, 'member')}`
    if (value instanceof ListView) return `an array with ${counted(value.length, 'element')}`
    const json = this.#leaf(value)
    if (isObject(json)) return 'a subdocument'
    const text = JSON.stringify(typeof json === 'string' ? json.slice(0, shownLengthMax) : json)
    return typeof json === 'string' && json.length > shownLengthMax ? `${text.toWellFormed()}…` : text
  }

  #leaf(value: Value): Json {
    if (typeof value !== 'object' || value === null) return toJson(value) ?? null
    if (value instanceof SharedCopy) return value.stored.json
    return memoized(this.#known, value, () => readElement(value, this.#output).json)
  }

  #copyLeaf(value: Value, fail: (problem: string) => ApiError): unknown {
    if (value instanceof Y.Doc) throw fail('a subdocument cannot be moved or copied')
    if (!(value instanceof Y.AbstractType)) return value
    if (value instanceof Y.XmlElement || value instanceof Y.XmlText || value instanceof Y.XmlHook)
      throw fail('a single XML node cannot be moved or copied')
    const json = this.#leaf(value) as string
    return new SharedCopy({ kind: storedForm(value) === 'xml' ? 'xml' : 'text', type: value, json })
  }

  #count(nodes: number, characters: number): void {
    this.#nodes += nodes
    this.#characters += characters
    if (this.#nodes > limits.nodes) throw tooLarge(`the copied values have more than ${limits.nodes} values`)
    if (this.#characters > copiedCharactersMax)
      throw tooLarge(`the copied values have more than ${copiedCharactersMax} characters`)
  }
}

/** Maximum number of characters of a value in a message. */
const shownLengthMax = 80

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Compares JSON views that contain scalars only. */
const equalScalars = (first: Json, second: Json): boolean =>
  isObject(first) &&
  isObject(second) &&
  Object.keys(first).length === Object.keys(second).length &&
  Object.entries(first).every(([key, value]) => Object.hasOwn(second, key) && second[key] === value)

const tooLarge = (problem: string): ApiError => invalid('crdt/content-limit', problem)

/** Returns how many levels of containers a plain value has; 0 for a scalar. */
export function nestingOf(value: unknown): number {
  if (typeof value !== 'object' || value === null || isContainer(value) || value instanceof Uint8Array)
    return 0
  if (value instanceof SharedCopy) return 0
  let deepest = 0
  for (const member of Object.values(value)) deepest = Math.max(deepest, nestingOf(member))
  return deepest + 1
}

/** Returns a plain value with strings in place of copies of shared values. */
export function withoutCopies(value: unknown): unknown {
  if (value instanceof SharedCopy) return value.stored.json
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  if (isArrayOf(value)) return value.map(withoutCopies)
  const plain = {}
  for (const [key, member] of Object.entries(value)) setMember(plain, key, withoutCopies(member) as Json)
  return plain
}

const isArrayOf = (value: object): value is readonly unknown[] => Array.isArray(value)
