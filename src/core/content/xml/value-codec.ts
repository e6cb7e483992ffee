import * as Y from 'yjs'
import { limits } from '../../model/limits.ts'
import { type Json, setMember, toJson } from '../json/json.ts'
import { Output } from '../output.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { xmlText } from './names.ts'

/** Type of an attribute value in the document. XML itself has only text. */
export type ValueType = 'string' | 'number' | 'boolean' | 'json'

/**
 * Returns an attribute value as text; null if the value counts as absent.
 * @throws ApiError RESOURCE_EXHAUSTED
 */
function valueText(value: unknown, output = new Output()): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return xmlText(value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof Y.Doc) return xmlText(value.guid)
  if (value instanceof Y.AbstractType) {
    countFormatting(value, output)
    return xmlText(JSON.stringify(value.toJSON()) ?? '')
  }
  return typeof value === 'object' ? xmlText(jsonText(value)) : String(value)
}

/** Counts the formatting that Yjs repeats for each range of text when it writes a shared value as text. */
function countFormatting(type: SharedRoot, output: Output): void {
  const lengths = new Map<string, number>()
  let length = 0
  const nested = [...type._map.values()]
  for (let item = type._start; item !== null; item = item.right) nested.push(item)
  for (const { deleted, content } of nested) {
    if (deleted) continue
    if (content instanceof Y.ContentType) countFormatting(content.type, output)
    if (content instanceof Y.ContentFormat) {
      const { key, value } = content
      length -= lengths.get(key) ?? 0
      lengths.set(key, value === null ? 0 : key.length + jsonText(value).length)
      length += lengths.get(key) ?? 0
    } else output.count(length)
  }
}

const jsonText = (value: object): string => JSON.stringify(value, withoutBigInts) ?? ''

/** Converts bigints to strings, because `JSON.stringify` rejects them. */
export const withoutBigInts = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? `${value}` : value

export function typeOfValue(value: unknown): ValueType | null {
  if (value === null || value === undefined) return null
  const type = typeof value
  if (type === 'number' || type === 'boolean') return type
  return typeof value === 'object' && isPlain(value) ? 'json' : 'string'
}

const isPlain = (value: object): boolean =>
  Array.isArray(value) ||
  Object.getPrototypeOf(value) === Object.prototype ||
  Object.getPrototypeOf(value) === null

/**
 * Returns the value of the given type for which `valueText` returns `text`. If there is no such value,
 * returns the text itself.
 */
function valueFrom(text: string, type: ValueType): unknown {
  if (type === 'number') return String(Number(text)) === text ? Number(text) : text
  if (type === 'boolean') return text === 'true' || text === 'false' ? text === 'true' : text
  return type === 'json' ? jsonValue(text) : text
}

/** Parses JSON. Returns the text itself if it is not JSON, or if shared types cannot contain the value. */
function jsonValue(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return text
  }
  if (typeof value !== 'object' || value === null) return text
  return Object.hasOwn(value, 'constructor') || !isStorable(value) ? text : value
}

/** Returns whether shared types can contain a value. */
export function isStorable(value: unknown, depth = 1): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  if (depth > limits.jsonDepth || Object.hasOwn(value, '__proto__')) return false
  return Object.values(value).every((inner) => isStorable(inner, depth + 1))
}

/** How a format represents the values of attributes and the characters of texts. */
export interface ValueCodec {
  /**
   * Returns a value as text; null if the value counts as absent. Values with the same text are equal.
   * @throws ApiError RESOURCE_EXHAUSTED as for `Output`
   */
  toText(value: unknown, output?: Output): string | null
  /** The text of null as a member of a mark; null if such a member counts as absent. */
  readonly nullText: string | null
  /**
   * Returns the value that `toText` represents by `text`.
   * @param type returns the type that the attribute has in the document
   */
  toValue(text: string, type: () => ValueType): unknown
  /** Replaces the characters that the format does not allow. The length of the text does not change. */
  toCharacters(text: string): string
}

/** The form of XML: values are text, and their types come from the document. */
export const xmlValues: ValueCodec = {
  toText: valueText,
  nullText: null,
  toValue: (text, type) => valueFrom(text, type()),
  toCharacters: xmlText,
}

/**
 * The form of formats whose values have types, such as JSON. The text of a value is its JSON with sorted
 * keys, so that values of different types differ. All characters are allowed.
 */
export const jsonValues: ValueCodec = {
  toText: (value, output) => {
    const json = jsonOf(value, output)
    return json === null ? null : JSON.stringify(sorted(json))
  },
  nullText: 'null',
  toValue: (text) => {
    const value: unknown = JSON.parse(text)
    // Yjs rejects an attribute whose value has a member of the name `constructor`.
    const isObject = typeof value === 'object' && value !== null
    return isObject && (Object.hasOwn(value, 'constructor') || !isStorable(value)) ? text : value
  },
  toCharacters: (text) => text,
}

function jsonOf(value: unknown, output = new Output()): Json {
  if (value instanceof Y.Doc) return value.guid.toWellFormed()
  if (!(value instanceof Y.AbstractType)) return toJson(value) ?? null
  countFormatting(value, output)
  return toJson(value.toJSON()) ?? null
}

/** Returns a JSON value whose objects have sorted keys. */
function sorted(json: Json): Json {
  if (typeof json !== 'object' || json === null) return json
  if (Array.isArray(json)) return json.map(sorted)
  const copy: Record<string, Json> = {}
  for (const [key, value] of Object.entries(json).sort(([a], [b]) => (a < b ? -1 : 1)))
    setMember(copy, key, sorted(value))
  return copy
}
