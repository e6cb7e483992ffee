import type { Json, JsonObject } from '../../json/json.ts'

const listTypes = ['bullet', 'ordered', 'checked', 'unchecked'] as const

export type ListType = (typeof listTypes)[number]

/** The block that a line of Quill is, or is a part of. The attributes of its line break state it. */
export type LineStructure =
  | { readonly kind: 'paragraph' | 'blockquote' | 'table' }
  | { readonly kind: 'heading'; readonly level: number }
  | { readonly kind: 'codeBlock'; readonly language: string | null }
  | { readonly kind: 'item'; readonly list: ListType; readonly indent: number }

/** Maximum indent of a line in Quill. */
export const indentMax = 8

/** Attributes that state the block of a line. The indent does so only in lists. */
const structural: ReadonlySet<string> = new Set(['blockquote', 'code-block', 'header', 'list', 'table'])

/** Language of a code block that states none. */
const noLanguage = 'plain'

/** Returns the structure of a line that has these attributes. */
export function structureOf(attributes: JsonObject): LineStructure {
  const { blockquote, header, list, table } = attributes
  const code = attributes['code-block']
  if (isSet(table)) return { kind: 'table' }
  if (isSet(code)) {
    const isNamed = typeof code === 'string' && code !== noLanguage && code !== 'true'
    return { kind: 'codeBlock', language: isNamed ? code : null }
  }
  const type = listTypes.find((each) => each === list)
  if (type !== undefined) return { kind: 'item', list: type, indent: indentOf(attributes.indent) }
  const level = isSet(header) ? Number(header) : 0
  if (Number.isInteger(level) && level >= 1 && level <= 6) return { kind: 'heading', level }
  return { kind: isSet(blockquote) ? 'blockquote' : 'paragraph' }
}

/**
 * Returns the attributes of a line with a structure. All other attributes of the stored line stay.
 * @param stored attributes of the line so far
 */
export function lineAttributes(structure: LineStructure, stored: JsonObject): JsonObject {
  const before = structureOf(stored)
  if (JSON.stringify(before) === JSON.stringify(structure)) return stored
  const isInList = before.kind === 'item' || structure.kind === 'item'
  const kept = Object.entries(stored).filter(
    ([name]) => !(structural.has(name) || (isInList && name === 'indent')),
  )
  return Object.fromEntries([...kept, ...ownAttributes(structure)])
}

function ownAttributes(structure: LineStructure): [string, Json][] {
  switch (structure.kind) {
    case 'heading':
      return [['header', structure.level]]
    case 'blockquote':
      return [['blockquote', true]]
    case 'codeBlock':
      return [['code-block', structure.language ?? noLanguage]]
    case 'item': {
      const { list, indent } = structure
      return [['list', list], ...(indent === 0 ? [] : [['indent', indent] satisfies [string, Json]])]
    }
    default:
      return []
  }
}

const isSet = (value: Json | undefined): value is Json =>
  value !== undefined && value !== null && value !== false

function indentOf(value: Json | undefined): number {
  const indent = Math.trunc(Number(value ?? 0))
  return indent > 0 ? Math.min(indent, indentMax) : 0
}
