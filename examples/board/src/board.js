import * as Y from 'yjs'
import { between } from './order.js'

const firstColumns = { todo: 'To do', doing: 'Doing', done: 'Done' }

/**
 * Creates the columns of a new board. They always have the same bytes, so any number of users can do it at
 * once.
 */
function beginning() {
  const doc = new Y.Doc()
  doc.clientID = 1
  doc.getArray('columns').push(Object.entries(firstColumns).map(([id, title]) => mapOf({ id, title })))
  return Y.encodeStateAsUpdate(doc)
}

const mapOf = (entries) => new Y.Map(Object.entries(entries))
/** A backend that adds cards by REST to an empty board writes plain JSON. */
const plain = (value) => (value instanceof Y.Map ? value.toJSON() : value)

const byOrder = (a, b) => (a.order === b.order ? (a.id < b.id ? -1 : 1) : a.order < b.order ? -1 : 1)

/**
 * A board in a Y.Doc: `columns` is a Y.Array of `{ id, title }`, `cards` a Y.Map by id of `{ title, column,
 * order }`. A move sets the place of a card instead of moving the card between lists. If two users move one
 * card at once, the last one wins, and there is still one card.
 */
export class Board {
  constructor(doc) {
    this.doc = doc
    this.columnList = doc.getArray('columns')
    this.cards = doc.getMap('cards')
  }

  /** Call when the document is synced, not before. */
  begin() {
    if (this.columnList.length === 0) Y.applyUpdate(this.doc, beginning())
  }

  /** Returns the columns and cards in order. Cards of a deleted column are in the first one. */
  columns() {
    const columns = this.columnList.map((column) => ({ ...plain(column), cards: [] }))
    const byId = new Map(columns.map((column) => [column.id, column]))
    for (const id of this.cards.keys()) {
      const card = this.card(id)
      const column = byId.get(card.column) ?? columns[0]
      column?.cards.push(card)
    }
    for (const { cards } of columns) cards.sort(byOrder)
    return columns
  }

  card(id) {
    const value = plain(this.cards.get(id))
    return value && { id, title: String(value.title), column: value.column, order: String(value.order ?? '') }
  }

  addCard(column, title) {
    const id = crypto.randomUUID()
    this.cards.set(id, mapOf({ title, ...this.#place(id, column, null) }))
    return id
  }

  rename(id, title) {
    this.#change(id, { title })
  }

  /** @param before id of the card that will follow; null means the end */
  move(id, column, before = null) {
    this.#change(id, this.#place(id, column, before))
  }

  removeCard(id) {
    this.cards.delete(id)
  }

  addColumn(title) {
    this.columnList.push([mapOf({ id: crypto.randomUUID(), title })])
  }

  renameColumn(id, title) {
    const column = this.columnList.toArray().find((each) => plain(each).id === id)
    if (column instanceof Y.Map) column.set('title', title)
  }

  removeColumn(id) {
    const index = this.columnList.toArray().findIndex((each) => plain(each).id === id)
    if (index !== -1) this.columnList.delete(index)
  }

  #place(id, column, before) {
    const others =
      this.columns()
        .find((each) => each.id === column)
        ?.cards.filter((card) => card.id !== id) ?? []
    const found = others.findIndex((card) => card.id === before)
    const at = found === -1 ? others.length : found
    const low = others[at - 1]?.order ?? ''
    const high = others.slice(at).find((card) => card.order > low)?.order ?? null
    return { column, order: between(low, high) }
  }

  #change(id, entries) {
    const card = this.cards.get(id)
    if (card === undefined) return
    this.doc.transact(() => {
      if (!(card instanceof Y.Map)) this.cards.set(id, mapOf({ ...card, ...entries }))
      else for (const [name, value] of Object.entries(entries)) card.set(name, value)
    })
  }
}
