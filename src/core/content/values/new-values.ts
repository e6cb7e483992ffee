import * as Y from 'yjs'
import { memoized } from '../../base/maps.ts'
import { planFormatted } from '../delta/delta.ts'
import { isArray, isObject, type Json, type JsonKind, kindOfJson, prototypeKey } from '../json/json.ts'
import {
  elementsIn,
  entriesIn,
  entryIn,
  fragmentKey,
  type StoredForm,
  type StoredValue,
  storedForm,
} from '../stored/shared-values.ts'
import { checkXml, planTree, treeOfPast } from '../xml/xml.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import type { PlannedUpdate } from '../yjs/root-replacement.ts'

/** A value to create: plain JSON, or a shared type and its content. */
export type NewValue =
  | { readonly as: 'plain'; readonly value: unknown }
  | { readonly as: 'map'; readonly entries: readonly (readonly [string, NewValue])[] }
  | { readonly as: 'array'; readonly elements: readonly NewValue[] }
  | { readonly as: 'text'; readonly text: string }
  | { readonly as: 'formatted' | 'xml'; readonly update: PlannedUpdate | null }
  | { readonly as: 'node'; readonly make: () => SharedRoot }
  | { readonly as: 'subdocument'; readonly make: () => Y.Doc }

/**
 * Returns the form of a new value that has no siblings: plain JSON. A value that contains the key `__proto__`
 * at any depth becomes a shared value, because Yjs loses this key when it reads a plain object.
 */
export function newValueOf(target: Json): NewValue {
  if (!hasPrototypeKey(target)) return { as: 'plain', value: target }
  if (isArray(target)) return { as: 'array', elements: target.map(newValueOf) }
  const entries = isObject(target) ? Object.entries(target) : []
  return { as: 'map', entries: entries.map(([key, value]) => [key, newValueOf(value)]) }
}

function hasPrototypeKey(json: Json): boolean {
  if (isArray(json)) return json.some(hasPrototypeKey)
  return isObject(json) && (Object.hasOwn(json, prototypeKey) || Object.values(json).some(hasPrototypeKey))
}

/** Maximum number of existing values that serve as examples for a new value. */
const examplesMax = 16

/**
 * Determines the form of new values from their existing siblings. A new object, array or string is plain
 * JSON, unless every existing value of that kind is shared (for strings: all are texts, or all are XML). Then
 * the new value is created in the form of these values, key by key. Siblings are read only if a new value
 * needs them, and their content is not converted to JSON.
 */
export class NewValueFactory {
  readonly #values: Iterable<unknown>
  readonly #examples = new Map<JsonKind, Examples | null>()

  /** @param values the existing values, as the document stores them */
  constructor(values: Iterable<unknown>) {
    this.#values = values
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

  has(kind: JsonKind): boolean {
    for (const value of this.#values) if (kindOfStored(value) === kind) return true
    return false
  }

  /** Returns the examples for values of a kind; null if these values are plain. */
  #examplesOf(kind: JsonKind): Examples | null {
    return memoized(this.#examples, kind, () => (kind === 'other' ? null : this.#findExamples(kind)))
  }

  /** Finds the last values of a kind, because they are the newest in most lists. */
  #findExamples(kind: JsonKind): Examples | null {
    const found: Y.AbstractType<unknown>[] = []
    let first: StoredForm | null = null
    for (const value of this.#values) {
      const form = storedForm(value)
      if (kindOfForm(form, value) !== kind) continue
      first ??= form
      if (form !== first || !(value instanceof Y.AbstractType)) return null
      found.push(value)
    }
    return first === null ? null : new Examples(first, found.slice(-examplesMax))
  }
}

/** Returns the kind of the JSON view of a stored value; null for bytes, a subdocument or an XML node. */
export const kindOfStored = (value: unknown): JsonKind | null => kindOfForm(storedForm(value), value)

function kindOfForm(form: StoredForm, value: unknown): JsonKind | null {
  if (form === 'opaque') return null
  if (form === 'map') return 'object'
  if (form === 'text' || form === 'xml') return 'string'
  if (form === 'array' || Array.isArray(value)) return 'array'
  if (typeof value === 'object' && value !== null) return 'object'
  return typeof value === 'string' || typeof value === 'bigint' ? 'string' : 'other'
}

/** Shared values of one form that serve as examples for new values. */
class Examples {
  readonly #form: StoredForm
  readonly #values: readonly Y.AbstractType<unknown>[]
  readonly #named = new Map<string, NewValueFactory>()
  #inside: NewValueFactory | null = null

  constructor(form: StoredForm, values: readonly Y.AbstractType<unknown>[]) {
    this.#form = form
    this.#values = values
  }

  /**
   * Returns the form of a new string. If the examples are XML, only a string that starts like XML becomes
   * XML.
   */
  string(target: string): NewValue {
    if (this.#form !== 'xml') return { as: 'text', text: target }
    if (!target.trimStart().startsWith('<')) return { as: 'plain', value: target }
    return { as: 'xml', update: planTree(undefined, fragmentKey, checkXml(target)) }
  }

  /** Returns the factory for values that are directly inside a new value. */
  inside(): NewValueFactory {
    this.#inside ??= new NewValueFactory(this.#values.flatMap(childrenOf))
    return this.#inside
  }

  /**
   * Returns the factory for the value under a key of a new value. Its examples are the existing values under
   * the same key if one of them has the same kind as `target`; otherwise all values inside the examples.
   */
  at(key: string, target: Json): NewValueFactory {
    let named = this.#named.get(key)
    if (named === undefined) {
      named = new NewValueFactory(this.#values.flatMap((value) => entryOf(value, key)))
      this.#named.set(key, named)
    }
    return named.has(kindOfJson(target)) ? named : this.inside()
  }
}

function childrenOf(value: Y.AbstractType<unknown>): unknown[] {
  if (value instanceof Y.Map) return [...entriesIn(value)].map(([, entry]) => entry)
  return value instanceof Y.Array ? [...elementsIn(value)] : []
}

function entryOf(value: Y.AbstractType<unknown>, key: string): unknown[] {
  const entry = value instanceof Y.Map ? entryIn(value, key) : undefined
  return entry === undefined ? [] : [entry]
}

/**
 * Returns a new value that is equal to a value of another document. Values that were shared become shared
 * values again, with the formatting of their texts. A single XML node is created empty, and `ExactRestore`
 * fills it. A clone by Yjs is not possible here: it would remove the shared values inside texts from the
 * other document.
 */
export function copyValue(past: StoredValue): NewValue {
  if (past.kind === 'map')
    return { as: 'map', entries: [...past.entries].map(([key, entry]) => [key, copyValue(entry)]) }
  if (past.kind === 'array') return { as: 'array', elements: past.elements.map(copyValue) }
  if (past.kind === 'text') return { as: 'formatted', update: planFormatted(undefined, past.type) }
  if (past.kind === 'xml')
    return { as: 'xml', update: planTree(undefined, fragmentKey, treeOfPast(past.type)) }
  const { value } = past
  if (value instanceof Y.AbstractType) return { as: 'node', make: () => value._copy() }
  if (value instanceof Y.Doc) return { as: 'subdocument', make: () => referenceTo(value) }
  return { as: 'plain', value }
}

/** Returns a new object for the same subdocument, because one object can be in only one position. */
const referenceTo = ({ guid, gc, autoLoad, meta }: Y.Doc): Y.Doc => new Y.Doc({ guid, gc, autoLoad, meta })
