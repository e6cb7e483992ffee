import type { LiveElement, XmlElement, XmlNode } from '../../xml/tree.ts'
import { parentOf, typesIn } from '../../yjs/items.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import { editNotSupported } from '../edit-errors.ts'
import { blockNote, isBelowRoot, rowAround, rowNames } from '../targets/xml-names.ts'
import {
  bodyFor,
  cellsLike,
  isHeaderRow,
  isRow,
  rowsOf,
  type TableGrid,
  tableIn,
  widthOf,
} from './table-rows.ts'
import { type ChildPlace, nameOf, neighborsOf, type PlacedNodes, placeNextTo } from './tree-places.ts'
import type { XmlNodeBuilder } from './xml-node-builder.ts'

/** A place among the rows of a stored table. */
interface RowPlace {
  readonly place: ChildPlace
  readonly table: LiveElement
  /** Number of rows before the place. */
  readonly index: number
}

export const isTableNode = (node: XmlNode): boolean => tableIn(node) !== null

/** Nodes that may become rows of a stored table. */
export class NewRows {
  readonly nodes: readonly XmlNode[]
  /** Whether the nodes are those of Markdown or HTML, whose tables become rows of a table around the place. */
  readonly isProse: boolean
  readonly #made: XmlNodeBuilder
  /** How messages name the edit. */
  readonly #edit: string

  constructor(nodes: readonly XmlNode[], isProse: boolean, made: XmlNodeBuilder, edit: string) {
    this.nodes = nodes
    this.isProse = isProse
    this.#made = made
    this.#edit = edit
  }

  /**
   * Returns the places of new rows. Rows in XML or ProseMirror JSON become rows of the table that contains the place.
   * So do the rows of a table in Markdown or HTML, without its header row. Such a table also joins a table next to
   * the place, if it has as many columns and no other header row. Returns null if the nodes are not rows of a
   * stored table.
   * @param side the side of the target on which the nodes are; null if they are in it
   * @throws ApiError INVALID_ARGUMENT if the table around the place cannot have the rows
   */
  placesAt(place: ChildPlace, side: 'before' | 'after' | null): readonly PlacedNodes[] | null {
    const { nodes, isProse } = this
    if (!(isProse ? nodes.some(isTableNode) : nodes.length > 0 && nodes.every(isRow))) return null
    const around = tableAround(place, side)
    if (around === null) return isProse ? this.#joined(place) : null
    const found = around.place === null ? null : this.#placeIn(around.table, around.place)
    if (found === null || (isProse && !nodes.every(isTableNode)))
      throw this.#unsupported(
        'a cell cannot contain a table or rows; send only rows, before or after a cell, or use a target outside of the table',
      )
    return [{ place: found.place, nodes: this.#rowsFor(found, nodes) }]
  }

  /** Returns the rows that replace a row, in the form of its table. */
  insteadOf(row: SharedRoot): readonly XmlNode[] {
    const { nodes, isProse } = this
    const table = parentOf(row)
    const place = placeNextTo(row, 'before')
    if (!isProse && !nodes.every(isRow)) return nodes
    if (table === null || place === null || !nodes.every(isProse ? isTableNode : isRow))
      throw this.#unsupported('only rows can replace a row of a table')
    const found = this.#placeIn(table, place)
    return found === null
      ? nodes
      : this.#rowsFor(found, nodes, found.table.children.filter(isRow)[found.index])
  }

  /** Checks that no cell spans a row and rows next to it. @throws ApiError INVALID_ARGUMENT if one does */
  checkRemoved(row: SharedRoot): void {
    const [table, place] = [parentOf(row), placeNextTo(row, 'before')]
    const found = table === null || place === null ? null : this.#placeIn(table, place)
    if (found === null) return
    const { rows, covered } = rowsOf(found.table)
    const isOpen =
      covered[found.index] !== 0 || (found.index + 1 < rows.length && covered[found.index + 1] !== 0)
    if (isOpen)
      throw this.#unsupported(
        'a cell spans this row and rows next to it; change the attribute rowspan of the cell first',
      )
  }

  /**
   * Checks a row that is removed after other rows were inserted behind it.
   * @throws ApiError INVALID_ARGUMENT as for `checkRemoved`, or if the row is the header row of its table
   */
  checkStreamed(row: SharedRoot): void {
    this.checkRemoved(row)
    const table = parentOf(row)
    const [first] = table === null ? [] : (this.#made.liveOf(table)?.children.filter(isRow) ?? [])
    if (first?.type === row && isHeaderRow(first))
      throw this.#unsupported('a stream cannot replace the header row of a table; use /v2/crdt/edit for it')
  }

  #placeIn(type: SharedRoot, place: ChildPlace): RowPlace | null {
    const table = this.#made.liveOf(type)
    if (table === null) return null
    const [left] = neighborsOf(place)
    const elements = table.children.filter((child): child is LiveElement => child.kind === 'element')
    const before = elements.slice(0, elements.findIndex((child) => child.type === left) + 1)
    return { place, table, index: before.filter(isRow).length }
  }

  /** @param replaced the row instead of which the rows are inserted, if any */
  #rowsFor({ table, index }: RowPlace, nodes: readonly XmlNode[], replaced?: XmlElement): readonly XmlNode[] {
    const { isProse } = this
    const stored = rowsOf(table)
    const [first] = stored.rows
    const header = isHeaderRow(first) && first !== replaced ? first : null
    const tables = isProse ? nodes.flatMap((node) => tableIn(node) ?? []) : []
    const columns = tables.map((each) => rowsOf(each).columns).find((count) => count !== stored.columns)
    if (columns !== undefined)
      throw this.#unsupported(
        `rows with ${columns} columns cannot be added to a table with ${stored.columns} columns; send rows with ${stored.columns} columns, or use a target outside of the table`,
      )
    if (isProse && header !== null && index === 0)
      throw this.#unsupported('rows cannot be before the header row of a table; insert them after it')
    const isHeader = replaced === first && isHeaderRow(first)
    const rows = isProse
      ? tables.map((each) => (isHeader ? each.children.filter(isRow) : bodyFor(header, each)))
      : [nodes.filter(isRow)]
    if (rows.includes(null))
      throw this.#unsupported(
        'the header row of the rows is not that of the table; repeat the header row of the table, or leave its cells empty',
      )
    const added = rows.flatMap((each) => each ?? [])
    this.#checkRows(stored, index, replaced, added)
    if (!isProse) return added
    return added.map((row) => {
      const cells = cellsLike(replaced ?? modelFor(stored, index), row, this.#made.element)
      return this.#made.element(row.name, row.attributes, cells)
    })
  }

  /** Checks that rows have a cell for each column of the table at their place, and its names. */
  #checkRows(
    { rows, columns, covered }: TableGrid,
    index: number,
    replaced: XmlElement | undefined,
    added: readonly XmlElement[],
  ): void {
    const isInside = index > 0 && index < rows.length
    const open = isInside || replaced !== undefined ? (covered[index] ?? 0) : 0
    const own = rowsOf({ children: added })
    const isReplacedOpen = replaced !== undefined && index + 1 < rows.length && (covered[index + 1] ?? 0) > 0
    const width = columns - open
    const wrong = added.find((row, at) => widthOf(row) + (own.covered[at] ?? 0) !== width)
    if ((wrong !== undefined && open > 0) || isReplacedOpen)
      throw this.#unsupported('a cell spans rows on both sides of the place; use a target in another row')
    if (wrong !== undefined)
      throw this.#unsupported(
        `a row has ${widthOf(wrong)} columns, but the table has ${columns}; send ${columns} cells`,
      )
    if (own.covered.at(-1) !== 0)
      throw this.#unsupported('a cell spans more rows than the content has; send all rows of the cell')
    const name = rows[0]?.name
    if (added.some((row) => row.name !== name))
      throw this.#unsupported(
        `the rows of the table have the name "${name}"; send rows with this name as XML`,
      )
  }

  /** Returns new tables as rows of the tables next to their place; null if none of them joins one. */
  #joined(place: ChildPlace): readonly PlacedNodes[] | null {
    const { nodes } = this
    const [left, right] = neighborsOf(place)
    const after = this.#joinedTo(left, nodes[0], 'end')
    if (after !== null) return [after, { place, nodes: nodes.slice(1) }]
    const before = this.#joinedTo(right, nodes.at(-1), 'start')
    return before === null ? null : [{ place, nodes: nodes.slice(0, -1) }, before]
  }

  #joinedTo(
    neighbor: SharedRoot | null,
    node: XmlNode | undefined,
    end: 'start' | 'end',
  ): PlacedNodes | null {
    const added = tableIn(node)
    const type = neighbor === null ? null : tableTypeIn(neighbor)
    const table = type === null ? null : this.#made.liveOf(type)
    if (added === null || type === null || table === null || tableIn(table) === null) return null
    const { columns, covered } = rowsOf(table)
    const rows = table.children.filter(isRow)
    const header = isHeaderRow(rows[0]) ? rows[0] : null
    const last = end === 'end' ? rows.at(-1) : header
    const place = last?.type === undefined ? { parent: type, after: null } : placeNextTo(last.type, 'after')
    const index = end === 'end' ? rows.length : header === null ? 0 : 1
    const fits = columns === rowsOf(added).columns && bodyFor(header, added) !== null
    const isOpen = end === 'start' && index < rows.length && covered[index] !== 0
    if (
      !fits ||
      isOpen ||
      place === null ||
      added.children.some((row) => row.kind === 'text' || row.name !== rows[0]?.name)
    )
      return null
    return { place, nodes: this.#rowsFor({ place, table, index }, [added]) }
  }

  #unsupported = (problem: string): Error => editNotSupported(`${this.#edit}: ${problem}`)
}

/** Returns the table that contains a place, and the place among its rows; null if the target is around the place. */
function tableAround(
  place: ChildPlace,
  side: 'before' | 'after' | null,
): { readonly table: SharedRoot; readonly place: ChildPlace | null } | null {
  if (isBelowRoot(place.parent) && typesIn(place.parent).some((child) => rowNames.has(nameOf(child))))
    return { table: place.parent, place }
  const row = rowAround(place.parent)
  const table = row === null ? null : parentOf(row)
  if (row === null || table === null) return null
  return { table, place: side === null ? null : placeNextTo(row, side) }
}

/** Returns the row whose columns new rows have: the one above, or the one below if the one above is the header row. */
function modelFor({ rows, covered }: TableGrid, index: number): XmlElement | undefined {
  const above = rows[index - 1]
  const isHeader = index === 1 && isHeaderRow(above)
  const [model, at] =
    above === undefined || (isHeader && rows[1] !== undefined) ? [rows[index], index] : [above, index - 1]
  return covered[at] === 0 ? model : undefined
}

/** Returns the table that a block is, or that is the only block in a container of BlockNote. */
function tableTypeIn(block: SharedRoot): SharedRoot | null {
  if (nameOf(block) !== blockNote.container) return block
  const [only = null, ...others] = typesIn(block)
  return others.length === 0 ? only : null
}
