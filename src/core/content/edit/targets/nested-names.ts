import type { Json } from '../../json/json.ts'

/** Attributes of a nested text of Lexical or Slate. */
type NestedAttributes = Readonly<Record<string, Json>>

/** Attribute that has the type of a node in Lexical. Slate has no such attribute. */
export const lexicalType = '__type'

/** Types of nested texts around a part of a text. They are invisible if they are empty. */
const wrapperTypes: ReadonlySet<Json> = new Set(['link', 'autolink', 'mark', 'overflow', 'a'])

/** Types of nested texts that are part of the text around them. */
const inlineTypes: ReadonlySet<Json> = new Set([...wrapperTypes, 'mention'])

/** Types of blocks other than ordinary paragraphs and headings. */
const specialTypes: ReadonlySet<Json> = new Set(['code', 'code-block', 'code_block', 'codeBlock', 'quote'])

const words = ['one', 'two', 'three', 'four', 'five', 'six']

/** Returns the type of a node: in Lexical `__type`, in Slate `type`. */
export const typeOfNode = (attributes: NestedAttributes): Json =>
  attributes[lexicalType] ?? attributes.type ?? null

/** Returns the level of a heading of Lexical or Slate; null for another node. */
export function nestedLevel(attributes: NestedAttributes): number | null {
  const type = typeOfNode(attributes)
  if (typeof type !== 'string') return null
  const name = type === 'heading' && typeof attributes.__tag === 'string' ? attributes.__tag : type
  const digit = /^(?:h|heading-?)([1-6])$/.exec(name)?.[1]
  if (digit !== undefined) return Number(digit)
  const word = words.indexOf(/^heading-([a-z]+)$/.exec(name)?.[1] ?? '')
  if (word !== -1) return word + 1
  return name === 'heading' ? (typeof attributes.level === 'number' ? attributes.level : 1) : null
}

export const isWrapper = (attributes: NestedAttributes): boolean => wrapperTypes.has(typeOfNode(attributes))

export const isInlineType = (attributes: NestedAttributes): boolean => inlineTypes.has(typeOfNode(attributes))

/** Returns whether a block is an ordinary paragraph, so that new blocks next to it are like it. */
export const isPlainNode = (attributes: NestedAttributes): boolean =>
  nestedLevel(attributes) === null && !specialTypes.has(typeOfNode(attributes))

const cellTypes: ReadonlySet<Json> = new Set(['tablecell', 'table-cell', 'table_cell', 'td', 'th'])

/** Returns whether a node is the cell of a table. */
export const isCell = (attributes: NestedAttributes): boolean => cellTypes.has(typeOfNode(attributes))
