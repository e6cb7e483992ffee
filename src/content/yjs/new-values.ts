import type * as Y from 'yjs'
import {
  isArray,
  isObject,
  type Json,
  type JsonKind,
  type JsonObject,
  kindOfJson,
  prototypeKey,
} from '../json/json.ts'
import type { PlannedUpdate } from '../replacement-result.ts'
import { checkXml, planXml } from '../xml/xml.ts'
import type { SharedRoot } from './root-kind.ts'
import { fragmentKey, kindOfShared, type StoredValue } from './shared-values.ts'

/** A value to create: plain JSON, or a shared type with its content. */
export type NewValue =
  | { readonly as: 'plain'; readonly value: unknown }
  | { readonly as: 'map'; readonly entries: readonly (readonly [string, NewValue])[] }
  | { readonly as: 'array'; readonly elements: readonly NewValue[] }
  | { readonly as: 'text'; readonly text: string }
  | { readonly as: 'formatted' | 'xml'; readonly update: PlannedUpdate | null }
  | { readonly as: 'node'; readonly make: () => SharedRoot }
  | { readonly as: 'subdocument'; readonly make: () => Y.Doc }

/**
 * Returns a value without siblings: plain JSON. A value that contains the key `__proto__` at any depth is
 * shared, because Yjs loses the key when it reads a plain object.
 */
export function newValueOf(target: Json): NewValue {
  if (!hasPrototypeKey(target)) return { as: 'plain', value: target }
  if (isArray(target)) return { as: 'array', elements: target.map(newValueOf) }
  const entries = Object.entries(target as JsonObject)
  return { as: 'map', entries: entries.map(([key, value]) => [key, newValueOf(value)]) }
}

function hasPrototypeKey(json: Json): boolean {
  if (isArray(json)) return json.some(hasPrototypeKey)
  return isObject(json) && (Object.hasOwn(json, prototypeKey) || Object.values(json).some(hasPrototypeKey))
}

/** Maximum number of existing values that serve as examples for a new one. */
const examplesMax = 16

/**
 * Existing siblings of new values. A new object, array or string is plain JSON, unless every existing value
 * of that kind is shared (strings: all texts, or all XML). Then it is built like those, key by key.
 */
export class NewValueFactory {
  readonly #values: readonly StoredValue[]
  readonly #examples = new Map<JsonKind, Examples | null>()

  constructor(values: Iterable<StoredValue>) {
    this.#values = [...values].filter(({ kind }) => kind !== 'opaque')
  }

  make(target: Json): NewValue {
    const examples = this.#examplesOf(kindOfJson(target))
    if (examples === null) return newValueOf(target)
    if (typeof target === 'string') return examples.string(target)
    if (isArray(target)) {
      return { as: 'array', elements: target.map((value) => examples.inside().make(value)) }
    }
    if (!isObject(target)) return { as: 'plain', value: target }
    const entries = Object.entries(target)
    return { as: 'map', entries: entries.map(([key, value]) => [key, examples.at(key, value).make(value)]) }
  }

  has = (kind: JsonKind): boolean => this.#values.some(({ json }) => kindOfJson(json) === kind)

  /** Returns null if values of the kind are plain. The last values are the newest in most lists. */
  #examplesOf(kind: JsonKind): Examples | null {
    const known = this.#examples.get(kind)
    if (known !== undefined) return known
    const alike = kind === 'other' ? [] : this.#values.filter(({ json }) => kindOfJson(json) === kind)
    const shared =
      alike.length > 0 &&
      alike.every((value) => kindOfShared(value) === kind && value.kind === alike[0]?.kind)
    const examples = shared ? new Examples(alike.slice(-examplesMax)) : null
    this.#examples.set(kind, examples)
    return examples
  }
}

/** Shared values of one kind that serve as examples. */
class Examples {
  readonly #values: readonly StoredValue[]
  readonly #named = new Map<string, NewValueFactory>()
  #inside: NewValueFactory | null = null

  constructor(values: readonly StoredValue[]) {
    this.#values = values
  }

  /** Next to XML, only a string that starts like XML becomes XML. */
  string(target: string): NewValue {
    if (this.#values[0]?.kind !== 'xml') return { as: 'text', text: target }
    if (!target.trimStart().startsWith('<')) return { as: 'plain', value: target }
    return { as: 'xml', update: planXml(undefined, fragmentKey, checkXml(target)) }
  }

  /** Returns the values directly in them. */
  inside(): NewValueFactory {
    this.#inside ??= new NewValueFactory(this.#values.flatMap(childrenOf))
    return this.#inside
  }

  /** Returns their values under the same key if one has the same kind; otherwise all their values. */
  at(key: string, target: Json): NewValueFactory {
    let named = this.#named.get(key)
    if (named === undefined) {
      named = new NewValueFactory(this.#values.flatMap((value) => entryOf(value, key)))
      this.#named.set(key, named)
    }
    return named.has(kindOfJson(target)) ? named : this.inside()
  }
}

function childrenOf(value: StoredValue): readonly StoredValue[] {
  if (value.kind === 'map') return [...value.entries.values()]
  return value.kind === 'array' ? value.elements : []
}

function entryOf(value: StoredValue, key: string): StoredValue[] {
  const entry = value.kind === 'map' ? value.entries.get(key) : undefined
  return entry === undefined ? [] : [entry]
}
