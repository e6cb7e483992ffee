import * as Y from 'yjs'
import { firstIndex } from '../../../base/search.ts'
import { type Json, setMember } from '../../json/json.ts'
import { parseIndex } from '../../json/pointer.ts'
import { entriesIn, entryIn, type StoredValue, storedForm } from '../../stored/shared-values.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'

/**
 * A value while a patch is carried out. It is a container of this file, or a value without members as the
 * document stores it: a scalar, bytes, a subdocument, or a shared text or XML node. `undefined` stands for a
 * value that does not exist.
 *
 * Containers are views: they read the document only when a value is requested, and never change it. They keep
 * the changes of the operations until the patch is written.
 */
export type Value = unknown

/**
 * The copy of a shared text or XML fragment. If the new value is created in the same form, it keeps the
 * formatting. Otherwise it is the string.
 */
export class SharedCopy {
  readonly stored: Extract<StoredValue, { kind: 'text' | 'xml' }>

  constructor(stored: SharedCopy['stored']) {
    this.stored = stored
  }
}

/** An object or an array, with the changes of the operations. */
export type Container = ObjectView | ListView

type Shared<View extends Container> = View & { readonly source: SharedRoot }

export const isContainer = (value: Value): value is Container =>
  value instanceof ObjectView || value instanceof ListView

/** Returns whether a value is the view of a shared value, whose other members stay. */
export const isSharedView = (value: Value): value is Shared<ObjectView> | Shared<ListView> =>
  isContainer(value) && value.source instanceof Y.AbstractType

export const isPlainView = (value: Value): value is Container => isContainer(value) && !isSharedView(value)

export const viewRoot = (root: SharedRoot, kind: 'map' | 'array'): Container =>
  kind === 'map' ? new ObjectView(root) : new ListView(root)

/** Returns the view of a stored value. A value without members is returned as it is. */
export function viewOf(value: unknown): Value {
  if (typeof value !== 'object' || value === null || value instanceof SharedCopy || isContainer(value))
    return value
  const form = storedForm(value)
  if (form === 'map' || form === 'array') return viewRoot(value as SharedRoot, form)
  if (form !== 'plain') return value
  return Array.isArray(value) ? new ListView(value) : new ObjectView(value)
}

/** Returns the member of a container that a reference token names. */
export function childOf(value: Value, token: string): Value {
  if (value instanceof ObjectView) return value.get(token)
  if (!(value instanceof ListView)) return undefined
  const index = parseIndex(token)
  return index === null || index >= value.length ? undefined : value.get(index)
}

/** Returns a value in plain form. It must not contain shared values, but may contain copies of them. */
export const toPlain = (value: Value): unknown => (isPlainView(value) ? value.toPlain() : value)

/** The view of a Y.Map or a plain object. */
export class ObjectView {
  readonly source: object
  /** Members that the operations have set, and `undefined` for members that they have deleted. */
  readonly changes = new Map<string, Value>()
  /** Views of stored members that were requested. */
  readonly children = new Map<string, Container>()
  #storedSize: number | null = null

  constructor(source: object) {
    this.source = source
  }

  get size(): number {
    this.#storedSize ??= countOf(this.#stored())
    let size = this.#storedSize
    for (const [key, value] of this.changes) {
      if (this.#storedAt(key) !== undefined) size -= 1
      if (value !== undefined) size += 1
    }
    return size
  }

  get(key: string): Value {
    if (this.changes.has(key)) {
      const value = viewOf(this.changes.get(key))
      this.changes.set(key, value)
      return value
    }
    const known = this.children.get(key)
    if (known !== undefined) return known
    const value = viewOf(this.#storedAt(key))
    if (isContainer(value)) this.children.set(key, value)
    return value
  }

  set(key: string, value: Value): void {
    this.changes.set(key, value)
  }

  delete(key: string): void {
    this.changes.set(key, undefined)
  }

  *entries(): Iterable<readonly [string, Value]> {
    for (const [key] of this.#stored()) if (!this.changes.has(key)) yield [key, this.get(key)]
    for (const [key, value] of this.changes) if (value !== undefined) yield [key, this.get(key)]
  }

  toPlain(): unknown {
    const plain = {}
    for (const [key, value] of this.#stored())
      if (!this.changes.has(key)) setMember(plain, key, value as Json)
    for (const [key, value] of this.changes)
      if (value !== undefined) setMember(plain, key, toPlain(value) as Json)
    return plain
  }

  *#stored(): Iterable<readonly [string, unknown]> {
    if (this.source instanceof Y.AbstractType) yield* entriesIn(this.source)
    else for (const entry of Object.entries(this.source)) if (entry[1] !== undefined) yield entry
  }

  #storedAt(key: string): unknown {
    if (this.source instanceof Y.AbstractType) return entryIn(this.source, key)
    return Object.getOwnPropertyDescriptor(this.source, key)?.value
  }
}

function countOf(values: Iterable<unknown>): number {
  let count = 0
  for (const _ of values) count += 1
  return count
}

/** Elements of a list: a range of stored elements, or one new value. */
type ListPiece =
  | { readonly is: 'stored'; readonly from: number; readonly length: number }
  | { readonly is: 'new'; readonly value: Value }

/**
 * The view of a Y.Array or a plain array. It is a list of pieces. The time of a change is linear in the number of
 * pieces, and thus in the number of operations.
 */
export class ListView {
  readonly source: object
  readonly stored: ElementsByIndex
  readonly pieces: ListPiece[]
  /** Views of stored elements that were requested, by their index in the document. */
  readonly children = new Map<number, Container>()
  length: number

  constructor(source: object) {
    this.source = source
    this.stored = Array.isArray(source) ? source : new StoredElements(source as SharedRoot)
    this.length = this.stored.length
    this.pieces = this.length === 0 ? [] : [{ is: 'stored', from: 0, length: this.length }]
  }

  get(index: number): Value {
    const { at, offset } = this.#locate(index)
    const piece = this.pieces[at] as ListPiece
    if (piece.is === 'new') {
      const value = viewOf(piece.value)
      this.pieces[at] = { is: 'new', value }
      return value
    }
    return this.#storedValue(piece.from + offset)
  }

  insert(index: number, value: Value): void {
    const { at, offset } = this.#locate(index)
    const piece = this.pieces[at]
    if (piece === undefined || offset === 0) this.pieces.splice(at, 0, { is: 'new', value })
    else this.#splitAt(at, offset, 0, [{ is: 'new', value }])
    this.length += 1
  }

  set(index: number, value: Value): void {
    const { at, offset } = this.#locate(index)
    this.#splitAt(at, offset, 1, [{ is: 'new', value }])
  }

  delete(index: number): void {
    const { at, offset } = this.#locate(index)
    this.#splitAt(at, offset, 1, [])
    this.length -= 1
  }

  *values(): Iterable<Value> {
    for (const piece of this.pieces) {
      if (piece.is === 'new') yield viewOf(piece.value) ?? null
      else for (let each = 0; each < piece.length; each++) yield this.#storedValue(piece.from + each)
    }
  }

  toPlain(): unknown {
    return this.pieces.flatMap((piece) => {
      if (piece.is === 'new') return [toPlain(piece.value)]
      return Array.from({ length: piece.length }, (_, each) => this.stored.at(piece.from + each))
    })
  }

  #storedValue(stored: number): Value {
    const known = this.children.get(stored)
    if (known !== undefined) return known
    const value = viewOf(this.stored.at(stored)) ?? null
    if (isContainer(value)) this.children.set(stored, value)
    return value
  }

  /** Finds the piece of an element. The end of the list is the start of a piece after the last one. */
  #locate(index: number): { at: number; offset: number } {
    let offset = index
    for (const [at, piece] of this.pieces.entries()) {
      const length = piece.is === 'stored' ? piece.length : 1
      if (offset < length) return { at, offset }
      offset -= length
    }
    return { at: this.pieces.length, offset: 0 }
  }

  /** Replaces `removed` elements at an offset of a piece by new pieces. */
  #splitAt(at: number, offset: number, removed: 0 | 1, added: readonly ListPiece[]): void {
    const piece = this.pieces[at] as ListPiece
    const [from, length] = piece.is === 'stored' ? [piece.from, piece.length] : [0, 1]
    const ranges: readonly ListPiece[][] = [
      offset > 0 ? [{ is: 'stored', from, length: offset }] : [],
      [...added],
      length > offset + removed
        ? [{ is: 'stored', from: from + offset + removed, length: length - offset - removed }]
        : [],
    ]
    this.pieces.splice(at, 1, ...ranges.flat())
  }
}

interface ElementsByIndex {
  readonly length: number
  at(index: number): unknown
}

/** The elements of a sequence, with access by index. The constructor passes over all items once. */
class StoredElements implements ElementsByIndex {
  readonly #items: Y.Item[] = []
  readonly #starts: number[] = []
  readonly length: number

  constructor(type: SharedRoot) {
    let length = 0
    for (let item = type._start; item !== null; item = item.right) {
      if (item.deleted || !item.countable) continue
      this.#items.push(item)
      this.#starts.push(length)
      length += item.length
    }
    this.length = length
  }

  at(index: number): unknown {
    const at = firstIndex(this.#starts.length, (item) => (this.#starts[item] as number) > index) - 1
    return this.#items[at]?.content.getContent()[index - (this.#starts[at] as number)]
  }
}
