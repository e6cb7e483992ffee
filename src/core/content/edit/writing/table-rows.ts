import { byName } from '../../xml/names.ts'
import type { XmlElement, XmlNode } from '../../xml/tree.ts'
import { comparedText } from '../targets/normalized-text.ts'
import { blockNote, cellNames, headerCellNames, rowNames } from '../targets/xml-names.ts'

/** The rows of a table, and the cells that span several of its rows. */
export interface TableGrid {
  readonly rows: readonly XmlElement[]
  readonly columns: number
  /**
   * For each row, and for the end of the table, the number of columns that cells of earlier rows cover there.
   * The last number is 0, unless a cell spans more rows than the table has.
   */
  readonly covered: readonly number[]
}

/** Maximum number of columns that one cell spans, as in HTML. */
const columnSpanMax = 1_000

/** Maximum number of rows that one cell spans, as in HTML. */
const rowSpanMax = 65_534

export const isRow = <Node extends XmlNode>(node: Node): node is Extract<Node, { kind: 'element' }> =>
  node.kind === 'element' && rowNames.has(node.name)

/** Returns the table that a node is, or that is the only block in a container of BlockNote; null if there is none. */
export function tableIn(node: XmlNode | undefined): XmlElement | null {
  if (node?.kind !== 'element') return null
  const [first, ...others] = node.children
  if (node.name === blockNote.container) return others.length === 0 ? tableIn(first) : null
  return first !== undefined && node.children.every(isRow) ? node : null
}

/** Counts the columns of a table. The time is linear in the number of its cells. */
export function rowsOf(table: { readonly children: readonly XmlNode[] }): TableGrid {
  const rows = table.children.filter(isRow)
  const ends = new Map<number, number>()
  const covered = [0]
  let [columns, open] = [0, 0]
  for (const [index, row] of rows.entries()) {
    let width = 0
    let opened = 0
    for (const cell of cellsOf(row)) {
      const own = span(cell, 'colspan', columnSpanMax)
      width += own
      const end = index + span(cell, 'rowspan', rowSpanMax)
      if (end === index + 1) continue
      opened += own
      ends.set(end, (ends.get(end) ?? 0) + own)
    }
    columns = Math.max(columns, width + open)
    open += opened - (ends.get(index + 1) ?? 0)
    covered.push(open)
  }
  return { rows, columns, covered }
}

/** Returns the number of columns that the cells of a row span. */
export const widthOf = (row: XmlElement): number =>
  cellsOf(row).reduce((sum, cell) => sum + span(cell, 'colspan', columnSpanMax), 0)

const cellsOf = (row: XmlElement): readonly XmlElement[] =>
  row.children.filter((cell): cell is XmlElement => cell.kind === 'element' && cellNames.has(cell.name))

/** Returns whether a row, as the first one of a table, is its header row. */
export function isHeaderRow(row: XmlElement | undefined): row is XmlElement {
  const cells = row === undefined ? [] : cellsOf(row)
  return cells.length > 0 && cells.every(({ name }) => headerCellNames.has(name))
}

/**
 * Returns the rows of a table to add to another one: all except an empty header row and one with the texts of
 * the other header row. Returns null if the header row has other texts.
 */
export function bodyFor(header: XmlElement | null, { children }: XmlElement): readonly XmlElement[] | null {
  const [first, ...others] = children.filter(isRow)
  if (!isHeaderRow(first)) return first === undefined ? [] : [first, ...others]
  const texts = textsOf(first)
  if (texts.every((text) => text === '')) return others
  const wanted = header === null ? [] : textsOf(header)
  const isSame = texts.length === wanted.length && texts.every((text, index) => text === wanted[index])
  return isSame ? others : null
}

/**
 * Returns the cells of a new row in the form of its columns: header cells, alignment and width are those of
 * another row of the table.
 * @param like the other row; cells that span several columns give no form
 */
export function cellsLike(
  like: XmlElement | undefined,
  row: XmlElement,
  element: (name: string, attributes: XmlElement['attributes'], children: readonly XmlNode[]) => XmlElement,
): readonly XmlElement[] {
  const models = like === undefined ? [] : cellsOf(like)
  const fits = models.every((cell) => span(cell, 'colspan', columnSpanMax) === 1)
  return cellsOf(row).map((cell, index) => {
    const model = fits && models.length === row.children.length ? models[index] : undefined
    if (model === undefined) return cell
    const isPlain = !headerCellNames.has(cell.name) && !isHeaderRow(like)
    const attributes = new Map(cell.attributes)
    for (const [name, value] of model.attributes)
      if (isOfColumn(name, attributes.get(name))) attributes.set(name, value)
    return element(isPlain ? model.name : cell.name, [...attributes].sort(byName), cell.children)
  })
}

/** Returns whether new cells take the value of an attribute from their column, unless they have an own one. */
const isOfColumn = (name: string, own: string | undefined): boolean =>
  name === 'colwidth' || name === 'align'
    ? own === undefined
    : name === 'textAlignment' && (own ?? 'left') === 'left'

function textsOf(row: XmlElement): string[] {
  return cellsOf(row).map((cell) => comparedText(textIn(cell)))
}

const textIn = (node: XmlNode): string =>
  node.kind === 'text' ? node.text : node.children.map(textIn).join('')

function span(cell: XmlElement, name: string, most: number): number {
  const value = Number(cell.attributes.find(([attribute]) => attribute === name)?.[1] ?? 1)
  return Number.isInteger(value) && value >= 1 ? Math.min(value, most) : 1
}
