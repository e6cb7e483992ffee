import * as Y from 'yjs'
import { forbiddenKey, type Json, type JsonKind, type JsonObject, jsonOf, kindOfJson } from './json.ts'
import { asRoot, type Root } from './kind.ts'
import { plainText, readState } from './text-state.ts'
import { xmlOf } from './xml-read.ts'

/** A value of a document with its reading; shared ones can be changed in place. */
export type Stored =
  | { readonly kind: 'map'; readonly json: JsonObject; readonly type: Root; readonly entries: Entries }
  | {
      readonly kind: 'array'
      readonly json: readonly Json[]
      readonly type: Root
      readonly elements: Elements
    }
  | { readonly kind: 'text'; readonly json: string; readonly type: Root }
  /** A fragment of XML; its reading is the XML. */
  | { readonly kind: 'xml'; readonly json: string; readonly type: Root }
  | { readonly kind: 'plain'; readonly json: Json; readonly value: unknown }
  /** Bytes, a subdocument, a single XML node: its reading is good only for leaving it alone. */
  | { readonly kind: 'opaque'; readonly json: Json; readonly value: unknown }

export type StoredMap = Extract<Stored, { kind: 'map' }>
export type StoredArray = Extract<Stored, { kind: 'array' }>
type Entries = ReadonlyMap<string, Stored>
type Elements = readonly Stored[]

/**
 * The live entries of a map. One that holds `undefined` reads as absent, as in JSON, and so does the key `__proto__`;
 * both are left alone.
 */
export function readMap(type: Root): StoredMap {
  const entries = new Map<string, Stored>()
  const json: Record<string, Json> = {}
  for (const [key, item] of type._map) {
    if (item.deleted || key === forbiddenKey) continue
    const value = readStored(item.content.getContent()[item.length - 1])
    if (value === undefined) continue
    entries.set(key, value)
    json[key.toWellFormed()] = value.json
  }
  return { kind: 'map', type, entries, json }
}

/** The live elements of a sequence, `undefined` as null. */
export function readArray(type: Root): StoredArray {
  const elements: Stored[] = []
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted || !item.countable) continue
    for (const value of item.content.getContent())
      elements.push(readStored(value) ?? { kind: 'plain', json: null, value })
  }
  return { kind: 'array', type, elements, json: elements.map(({ json }) => json) }
}

/** Text is read without embeds, bytes as base64, a subdocument as `{ subdocument: <its guid> }`. */
export function readStored(value: unknown): Stored | undefined {
  if (value instanceof Y.AbstractType) return readType(value as Root)
  if (value instanceof Y.Doc)
    return { kind: 'opaque', json: { subdocument: value.guid.toWellFormed() }, value }
  if (value instanceof Uint8Array) return { kind: 'opaque', json: jsonOf(value) ?? null, value }
  const json = jsonOf(value)
  return json === undefined ? undefined : { kind: 'plain', json, value }
}

/** Fragments inside of other values are made by rich-text editors, as a root of this name is. */
export const fragmentKey = 'prosemirror'

function readType(type: Root): Stored {
  if (type instanceof Y.XmlElement || type instanceof Y.XmlHook) {
    return { kind: 'opaque', json: xmlOf(asRoot(type), fragmentKey), value: type }
  }
  if (type instanceof Y.XmlText)
    return { kind: 'opaque', json: plainText(readState(asRoot(type))), value: type }
  if (type instanceof Y.XmlFragment) {
    return { kind: 'xml', type: asRoot(type), json: xmlOf(asRoot(type), fragmentKey) }
  }
  if (type instanceof Y.Map) return readMap(asRoot(type))
  if (type instanceof Y.Array) return readArray(asRoot(type))
  return { kind: 'text', type, json: plainText(readState(type)) }
}

/** The kind that a target must have to change this value in place; null when nothing can. */
export const kindOfShared = (stored: Stored): JsonKind | null =>
  stored.kind === 'plain' || stored.kind === 'opaque' ? null : kindOfJson(stored.json)
