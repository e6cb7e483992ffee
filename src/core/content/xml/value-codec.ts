import * as Y from 'yjs'
import { type Json, setMember, toJson } from '../json/json.ts'
import { Output } from '../output.ts'
import { countFormatting, isStorable, type ValueType, valueFrom, valueText } from './attribute-values.ts'
import { xmlText } from './names.ts'

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
