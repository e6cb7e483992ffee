import * as Y from 'yjs'
import { parentOf } from '../../yjs/items.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'

/** Names of elements that are a line break inside a text. */
export const hardBreakNames: ReadonlySet<string> = new Set(['hardBreak', 'hard_break', 'br'])

/** Names of elements whose content is text, even if they are empty. */
export const textblockNames: readonly string[] = [
  'paragraph',
  'heading',
  'codeBlock',
  'code_block',
  'p',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'bulletListItem',
  'numberedListItem',
  'checkListItem',
  'toggleListItem',
  'tableParagraph',
]

/** Names of the cells of tables. A cell must have a block. */
export const cellNames: ReadonlySet<string> = new Set([
  'tableCell',
  'tableHeader',
  'table_cell',
  'table_header',
  'td',
  'th',
])

/** Names of the cells of tables that are headers. */
export const headerCellNames: ReadonlySet<string> = new Set(['tableHeader', 'table_header', 'th'])

export const rowNames: ReadonlySet<string> = new Set(['tableRow', 'table_row', 'tr'])

export const listItemNames: ReadonlySet<string> = new Set(['listItem', 'list_item', 'taskItem', 'li'])

/** Names of elements of BlockNote: around blocks, and inside cells of tables. */
export const blockNote = {
  container: 'blockContainer',
  group: 'blockGroup',
  cellBlock: 'tableParagraph',
} as const

/** Returns whether line breaks in the text of an element are characters. */
export const isCode = (name: string): boolean => codeNames.has(name)

const codeNames: ReadonlySet<string> = new Set(['codeBlock', 'code_block', 'pre'])

const headingName = /^h([1-6])$/

/** Returns the level of a heading; null for an element that is not a heading. */
export function headingLevel(element: Y.XmlElement): number | null {
  const { nodeName } = element
  if (!nodeName.startsWith('h')) return null
  const found = headingName.exec(nodeName)?.[1]
  if (found !== undefined) return Number(found)
  if (nodeName !== 'heading') return null
  const number = Number(element.getAttribute('level') ?? 1)
  return Number.isFinite(number) ? number : 1
}

/** Returns whether elements with this name are ordinary paragraphs if they have text. */
export const isPlainTextblock = (name: string): boolean =>
  !(name === 'heading' || isCode(name) || headingName.test(name))

/** Returns the row of a table that an element is, or that contains it; null if there is none. */
export function rowAround(type: SharedRoot | null): SharedRoot | null {
  for (let row = type; row !== null; row = parentOf(row)) {
    const isRow = row instanceof Y.XmlElement && rowNames.has(row.nodeName)
    if (isRow && isBelowRoot(parentOf(row))) return row
  }
  return null
}

/** Returns whether a type is in a root, and not the root. */
export const isBelowRoot = (type: SharedRoot | null): boolean => type !== null && type._item !== null

/** Returns whether an element contains a type, or is the type. */
export function isWithin(type: SharedRoot | null, element: SharedRoot): boolean {
  for (let each = type; each !== null; each = parentOf(each)) if (each === element) return true
  return false
}
