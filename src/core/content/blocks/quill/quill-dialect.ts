import * as Y from 'yjs'
import type { Json, JsonObject } from '../../json/json.ts'
import type { KnownKind, SharedRoot } from '../../yjs/root-kind.ts'
import type { BlockFeatures } from '../block-format.ts'
import type { Dialect } from '../dialect.ts'

/**
 * Names of the blocks as which a text of Quill is read. Quill stores no such nodes: a line break has the
 * attributes of its line. Quill has no horizontal rules and no line breaks in a line.
 */
export const quillDialect: Dialect = {
  nodes: {
    paragraph: 'paragraph',
    heading: 'heading',
    blockquote: 'blockquote',
    bulletList: 'bulletList',
    orderedList: 'orderedList',
    listItem: 'listItem',
    taskList: 'taskList',
    taskItem: 'taskItem',
    codeBlock: 'codeBlock',
    image: 'image',
  },
  marks: { bold: 'bold', italic: 'italic', strike: 'strike', code: 'code', link: 'link' },
  language: 'language',
  start: 'start',
  defaults: {},
  editor: null,
  hasBlockImages: false,
}

/** Features of a text of Quill. A table in another format is stored as text. */
export const quillFeatures: BlockFeatures = {
  table: false,
  strike: true,
  taskList: true,
  blockImages: false,
}

/** Attribute of a line with the attributes of its line break, as JSON, if its structure does not state them. */
export const lineAttribute = 'line'

/** Attribute of a list with the number of indents that no list around it accounts for. */
export const stepAttribute = 'step'

/** Embeds that Quill shows as blocks, without a line break after them. */
export const blockEmbeds: ReadonlySet<string> = new Set(['video'])

/** Name of the root that Quill uses. */
export const quillKey = 'quill'

/**
 * Returns whether a text is that of a rich-text editor, and not plain text: its name is that of Quill, its
 * schema is one for texts, or it has formatting or embeds.
 * @param schemaKind the kind that the schema of the root describes; undefined without a schema
 */
export function isQuill(root: SharedRoot | undefined, contentKey: string, schemaKind?: KnownKind): boolean {
  if (contentKey === quillKey || schemaKind === 'text') return true
  for (let item = root?._start ?? null; item !== null; item = item.right) {
    if (item.deleted) continue
    const { content } = item
    if (content instanceof Y.ContentEmbed || content instanceof Y.ContentType) return true
    if (content instanceof Y.ContentFormat && content.value !== null) return true
  }
  return false
}

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
