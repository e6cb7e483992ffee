import * as Y from 'yjs'
import { memoized } from '../../base/maps.ts'
import {
  type Json,
  JsonInterner,
  type JsonKind,
  type JsonObject,
  kindOfJson,
  setMember,
  toJson,
} from '../json/json.ts'
import { Output } from '../output.ts'
import { plainText, readTextState } from '../text/text-state.ts'
import { serializeType } from '../xml/serialize.ts'
import { hasEntries, type SharedRoot } from '../yjs/root-kind.ts'

/** A value of a document with its JSON view. Shared values can be changed in place. */
export type StoredValue =
  | { readonly kind: 'map'; readonly json: JsonObject; readonly type: SharedRoot; readonly entries: Entries }
  | {
      readonly kind: 'array'
      readonly json: readonly Json[]
      readonly type: SharedRoot
      readonly elements: Elements
    }
  | { readonly kind: 'text'; readonly json: string; readonly type: SharedRoot }
  /** An XML fragment with elements, or an empty one. Its JSON view is the XML as a string. */
  | { readonly kind: 'xml'; readonly json: string; readonly type: SharedRoot }
  | { readonly kind: 'plain'; readonly json: Json; readonly value: unknown }
  /**
   * Bytes, a subdocument, or a single XML node. The JSON view is only needed to find out whether the value
   * stays unchanged.
   */
  | { readonly kind: 'opaque'; readonly json: Json; readonly value: unknown }

export type StoredMap = Extract<StoredValue, { kind: 'map' }>
export type StoredArray = Extract<StoredValue, { kind: 'array' }>
type Entries = ReadonlyMap<string, StoredValue>
type Elements = readonly StoredValue[]

/**
 * Reads the live entries of a map. An entry with the value `undefined` is read as absent, as in JSON, and
 * stays in the document.
 * @throws ApiError RESOURCE_EXHAUSTED
 */
export function readMap(type: SharedRoot, output = new Output()): StoredMap {
  const entries = new Map<string, StoredValue>()
  const json: Record<string, Json> = {}
  for (const [key, stored] of entriesIn(type)) {
    const value = readStoredValue(stored, output)
    if (value === undefined) continue
    entries.set(key, value)
    setMember(json, key.toWellFormed(), value.json)
  }
  return { kind: 'map', type, entries, json }
}

/**
 * Reads the live elements of a sequence. `undefined` is read as null.
 * @throws ApiError RESOURCE_EXHAUSTED
 */
export function readArray(type: SharedRoot, output = new Output()): StoredArray {
  const elements: StoredValue[] = []
  for (const value of elementsIn(type)) elements.push(readElement(value, output))
  return { kind: 'array', type, elements, json: elements.map(({ json }) => json) }
}

/**
 * Reads a stored element of a sequence. `undefined` is read as null.
 * @throws ApiError RESOURCE_EXHAUSTED
 */
export const readElement = (value: unknown, output = new Output()): StoredValue =>
  readStoredValue(value, output) ?? { kind: 'plain', json: null, value }

/** Yields the live entries of a map as the document stores them, without `undefined`. */
export function* entriesIn(type: SharedRoot): Generator<readonly [key: string, value: unknown]> {
  for (const [key, item] of type._map) {
    const value = valueOfEntry(item)
    if (value !== undefined) yield [key, value]
  }
}

/** Returns the live entry of a map as the document stores it; undefined if there is none. */
export function entryIn(type: SharedRoot, key: string): unknown {
  const item = type._map.get(key)
  return item === undefined ? undefined : valueOfEntry(item)
}

const valueOfEntry = (item: Y.Item): unknown =>
  item.deleted ? undefined : item.content.getContent()[item.length - 1]

/** Yields the live elements of a sequence as the document stores them. */
export function* elementsIn(type: SharedRoot): Generator {
  for (let item = type._start; item !== null; item = item.right)
    if (!item.deleted && item.countable) yield* item.content.getContent()
}

/**
 * Reads a stored value. A text is read without embeds, bytes as base64, and a subdocument as `{ subdocument:
 * <its guid> }`.
 * @throws ApiError RESOURCE_EXHAUSTED
 */
export function readStoredValue(value: unknown, output = new Output()): StoredValue | undefined {
  if (value instanceof Y.AbstractType) return readType(value, output)
  if (value instanceof Y.Doc)
    return { kind: 'opaque', json: { subdocument: value.guid.toWellFormed() }, value }
  if (value instanceof Uint8Array) return { kind: 'opaque', json: toJson(value) ?? null, value }
  const json = toJson(value)
  return json === undefined ? undefined : { kind: 'plain', json, value }
}

/**
 * Root name that stands for rich text. Rich-text editors create fragments inside other values in the same
 * form as a root with this name.
 */
export const fragmentKey = 'prosemirror'

function readType(type: SharedRoot, output: Output): StoredValue {
  switch (storedForm(type)) {
    case 'opaque': {
      const isText = type instanceof Y.XmlText
      const json = isText ? plainText(readTextState(type)) : serializeType(type, fragmentKey, output)
      return { kind: 'opaque', json, value: type }
    }
    case 'xml':
      return { kind: 'xml', type, json: serializeType(type, fragmentKey, output) }
    case 'map':
      return readMap(type, output)
    case 'array':
      return readArray(type, output)
    default:
      return { kind: 'text', type, json: plainText(readTextState(type)) }
  }
}

/** The form in which a document stores a value. */
export type StoredForm = StoredValue['kind']

/** Returns the form of a stored value, without reading its content. */
export function storedForm(value: unknown): StoredForm {
  if (typeof value !== 'object' || value === null) return 'plain'
  if (!(value instanceof Y.AbstractType))
    return value instanceof Y.Doc || value instanceof Uint8Array ? 'opaque' : 'plain'
  if (value instanceof Y.XmlElement || value instanceof Y.XmlHook || value instanceof Y.XmlText)
    return 'opaque'
  if (value instanceof Y.XmlFragment) return formOfFragment(value)
  if (value instanceof Y.Map) return 'map'
  return value instanceof Y.Array ? 'array' : 'text'
}

/**
 * Returns the form of a fragment by its content, because Yjs 14 stores each nested type without a name as a
 * fragment. The first live item of its sequence decides. An empty fragment has the form of XML.
 */
function formOfFragment(type: Y.XmlFragment): StoredForm {
  let item = type._start
  while (item?.deleted === true) item = item.right
  if (item === null) return hasEntries(type) ? 'map' : 'xml'
  const { content } = item
  if (!(content instanceof Y.ContentType))
    return content instanceof Y.ContentString || content instanceof Y.ContentFormat ? 'text' : 'array'
  return storedForm(content.type) === 'opaque' ? 'xml' : 'array'
}

/** Returns a value as the document stores it. */
export const asStored = (stored: StoredValue): unknown => ('type' in stored ? stored.type : stored.value)

/**
 * Returns the kind that a target must have so that this value can be changed to the target in place; null if
 * this is impossible.
 */
export const kindOfShared = (stored: StoredValue): JsonKind | null =>
  stored.kind === 'plain' || stored.kind === 'opaque' ? null : kindOfJson(stored.json)

/**
 * Assigns numbers to the stored values of one or two documents. Values have equal numbers if their JSON is
 * equal and they are shared at the same positions. The formatting of texts is ignored.
 */
export class StoredInterner {
  readonly #values = new JsonInterner()
  readonly #known = new Map<StoredValue, number>()

  of(stored: StoredValue): number {
    return memoized(this.#known, stored, () => this.#values.of([kindOf(stored), ...this.#content(stored)]))
  }

  #content(stored: StoredValue): readonly (string | number)[] {
    if (stored.kind === 'array') return stored.elements.map((element) => this.of(element))
    if (stored.kind !== 'map') return [this.#values.of(stored.json)]
    const keys = [...stored.entries.keys()].sort()
    return keys.flatMap((key) => [key, this.of(stored.entries.get(key) as StoredValue)])
  }
}

function kindOf(stored: StoredValue): string {
  if (stored.kind !== 'opaque') return stored.kind
  if (stored.value instanceof Y.Doc) return 'subdocument'
  return stored.value instanceof Y.XmlElement ? `element ${stored.value.nodeName}` : 'opaque'
}
