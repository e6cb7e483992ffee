import * as Y from 'yjs'
import { type Json, type JsonKind, type JsonObject, kindOfJson, setMember, toJson } from '../json/json.ts'
import { Output } from '../output.ts'
import { plainText, readTextState } from '../text/text-state.ts'
import { serializeType } from '../xml/serialize.ts'
import type { SharedRoot } from './root-kind.ts'

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
  /** An XML fragment. Its JSON view is the XML as a string. */
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
  for (const [key, item] of type._map) {
    if (item.deleted) continue
    const value = readStoredValue(item.content.getContent()[item.length - 1], output)
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
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted || !item.countable) continue
    for (const value of item.content.getContent())
      elements.push(readStoredValue(value, output) ?? { kind: 'plain', json: null, value })
  }
  return { kind: 'array', type, elements, json: elements.map(({ json }) => json) }
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
  if (type instanceof Y.XmlElement || type instanceof Y.XmlHook) {
    return { kind: 'opaque', json: serializeType(type, fragmentKey, output), value: type }
  }
  if (type instanceof Y.XmlText) return { kind: 'opaque', json: plainText(readTextState(type)), value: type }
  if (type instanceof Y.XmlFragment) {
    return { kind: 'xml', type: type, json: serializeType(type, fragmentKey, output) }
  }
  if (type instanceof Y.Map) return readMap(type, output)
  if (type instanceof Y.Array) return readArray(type, output)
  return { kind: 'text', type, json: plainText(readTextState(type)) }
}

/**
 * Returns the kind that a target must have so that this value can be changed to the target in place; null if
 * this is impossible.
 */
export const kindOfShared = (stored: StoredValue): JsonKind | null =>
  stored.kind === 'plain' || stored.kind === 'opaque' ? null : kindOfJson(stored.json)
