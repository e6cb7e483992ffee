import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import { limits } from '../../model/limits.ts'
import { toJson } from '../json/json.ts'
import { type ItemRange, presentParts } from './items.ts'
import type { SharedRoot } from './root-kind.ts'

/**
 * One range of a stored sequence. Two sequences are the same, except for the content of their shared values,
 * if their cells are equal according to `isDeepStrictEqual`.
 */
type SequenceCell = What & {
  /**
   * The formatting that changes at the start of the range, by name; the value null ends a format. The size is
   * linear in the number of changes, and independent of the number of active formats.
   */
  readonly changes: readonly (readonly [name: string, value: unknown])[]
}

type What =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'values'; readonly values: unknown[] }
  | { readonly is: 'embed'; readonly embed: unknown }
  | { readonly is: 'shared'; readonly name: string }

/** The content of a sequence, regardless of its division into items. */
export interface SequenceContent {
  readonly cells: readonly SequenceCell[]
  /** The shared values, in the order of their cells. */
  readonly shared: readonly SharedRoot[]
}

/** Reads the live content of a sequence. */
export function readSequence(type: SharedRoot): SequenceContent {
  const reader = new CellReader()
  reader.read(type)
  return reader
}

/** Returns the name of a shared type. Shared values with the same name have the same kind. */
export function nameOfType(type: object): string {
  const { name } = type.constructor
  if (type instanceof Y.XmlElement) return `${name} ${type.nodeName}`
  return type instanceof Y.XmlHook ? `${name} ${type.hookName}` : name
}

/** Represents a subdocument in comparisons with `isDeepStrictEqual`. */
class Subdocument {
  readonly guid: string
  readonly options: unknown

  constructor({ doc, opts }: Y.ContentDoc) {
    this.guid = doc.guid
    this.options = opts
  }
}

export const valuesOf = (content: Y.Item['content']): readonly unknown[] =>
  content instanceof Y.ContentDoc ? [new Subdocument(content)] : content.getContent()

/**
 * Follows the formatting of a sequence. The time is linear in the number of marks, and independent of the number of
 * active formats.
 */
export class SequenceFormats {
  readonly #active = new Map<string, unknown>()
  /** The formats that have changed since the last call of `take`, with their values at that call. */
  readonly #before = new Map<string, unknown>()

  /** Number of active formats. */
  get size(): number {
    return this.#active.size
  }

  /** @param value null ends a format */
  set(name: string, value: unknown): void {
    if (!this.#before.has(name)) this.#before.set(name, this.#active.get(name) ?? null)
    if (value === null) this.#active.delete(name)
    else this.#active.set(name, value)
  }

  /** Returns the formats that have changed since the last call, with their values; null ends a format. */
  take(): readonly (readonly [name: string, value: unknown])[] {
    if (this.#before.size === 0) return noChanges
    const changes: [string, unknown][] = []
    for (const [name, before] of this.#before) {
      const value = this.#active.get(name) ?? null
      if (!isDeepStrictEqual(before, value)) changes.push([name, value])
    }
    this.#before.clear()
    return changes
  }
}

const noChanges: readonly (readonly [string, unknown])[] = []

class CellReader implements SequenceContent {
  readonly cells: SequenceCell[] = []
  readonly shared: SharedRoot[] = []
  readonly #formats = new SequenceFormats()

  read(type: SharedRoot): void {
    for (let item = type._start; item !== null; item = item.right) {
      const { content } = item
      if (item.deleted) continue
      if (content instanceof Y.ContentFormat) this.#formats.set(content.key, content.value)
      else if (content.isCountable()) this.#add(content)
    }
  }

  #add(content: Y.Item['content']): void {
    const changes = this.#formats.take().toSorted(([a], [b]) => (a < b ? -1 : 1))
    const last = changes.length === 0 ? this.cells.at(-1) : undefined
    if (content instanceof Y.ContentString) {
      if (last?.is === 'text') this.cells[this.cells.length - 1] = { ...last, text: last.text + content.str }
      else this.cells.push({ is: 'text', text: content.str, changes })
    } else if (content instanceof Y.ContentType) {
      this.cells.push({ is: 'shared', name: nameOfType(content.type), changes })
      this.shared.push(content.type)
    } else if (content instanceof Y.ContentEmbed)
      this.cells.push({ is: 'embed', embed: content.embed, changes })
    else {
      const values = last?.is === 'values' ? last.values : []
      // The values are not passed as arguments of one call, because there may be very many.
      for (const value of valuesOf(content)) values.push(value)
      if (last?.is !== 'values') this.cells.push({ is: 'values', values, changes })
    }
  }
}

/** Returns the values of a part of content, without shared types; empty if the content has no values. */
export function plainValues(content: Y.Item['content'], offset: number, length: number): readonly unknown[] {
  if (content instanceof Y.ContentAny || content instanceof Y.ContentJSON)
    return content.arr.slice(offset, offset + length)
  if (content instanceof Y.ContentBinary || content instanceof Y.ContentEmbed) return content.getContent()
  return content instanceof Y.ContentDoc ? [{ subdocument: content.doc.guid }] : []
}

/** Delimiter of content that is not text. No stored text contains this character. */
const bracket = '\ud801'

const bracketed = (value: unknown): string => `${bracket}${JSON.stringify(value)}${bracket}`

/**
 * Returns the content of a part of an item as a string. Equal content has equal strings. Text stands for itself.
 * @param partsOf which parts of the items in a shared value count; without it, the present ones
 */
export function formOfItem(
  { content, length: all }: Y.Item,
  { offset, length }: ItemRange = { offset: 0, length: all },
  partsOf = presentParts,
  depth = 0,
): string {
  if (content instanceof Y.ContentString) return content.str.slice(offset, offset + length)
  if (content instanceof Y.ContentFormat) return bracketed([content.key, toJson(content.value) ?? null])
  if (content instanceof Y.ContentType)
    return `${bracket}(${formOfType(content.type, partsOf, depth)}${bracket})`
  const values = plainValues(content, offset, length)
  return values.map((value) => bracketed(toJson(value) ?? null)).join('')
}

/** The forms of what is inside are not escaped: each level would double them. */
function formOfType(type: SharedRoot, partsOf: typeof presentParts, depth: number): string {
  if (depth > limits.typeDepth) return ''
  const form = (item: Y.Item, part: ItemRange): string => formOfItem(item, part, partsOf, depth + 1)
  const entries: (readonly [string, string])[] = []
  for (const [key, last] of type._map)
    for (let item: Y.Item | null = last; item !== null; item = item.left) {
      const part = partsOf(item).at(-1)
      if (part === undefined) continue
      entries.push([key, form(item, { offset: part.offset + part.length - 1, length: 1 })])
      break
    }
  const children: string[] = []
  for (let item = type._start; item !== null; item = item.right)
    for (const part of partsOf(item)) children.push(form(item, part))
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  const names = bracketed([nameOfType(type), ...entries.map(([key]) => key)])
  return [names, ...entries.map(([, entry]) => entry), ...children].join('')
}

/** Returns whether two shared types have the same visible content. */
export function hasSameContent(a: SharedRoot | undefined, b: SharedRoot | undefined): boolean {
  const [x, y] = [a, b].map((type) => (type === undefined ? { cells: [], shared: [] } : readSequence(type)))
  if (!isDeepStrictEqual(x?.cells, y?.cells)) return false
  const [entries, others] = [liveEntries(a), liveEntries(b)]
  if (entries.size !== others.size) return false
  for (const [key, item] of entries) if (!isSameEntry(item, others.get(key))) return false
  return x?.shared.every((type, at) => hasSameContent(type, y?.shared[at])) ?? true
}

const liveEntries = (type: SharedRoot | undefined): ReadonlyMap<string, Y.Item> =>
  new Map([...(type?._map ?? [])].filter(([, { deleted }]) => !deleted))

function isSameEntry({ content }: Y.Item, other: Y.Item | undefined): boolean {
  if (other === undefined) return false
  if (!(content instanceof Y.ContentType) || !(other.content instanceof Y.ContentType))
    return isDeepStrictEqual(valuesOf(content).at(-1), valuesOf(other.content).at(-1))
  const [type, otherType] = [content.type, other.content.type]
  return nameOfType(type) === nameOfType(otherType) && hasSameContent(type, otherType)
}
