import * as Y from 'yjs'
import { type Json, setMember, toJson } from '../json/json.ts'
import {
  deletedEvidenceOf,
  type KnownKind,
  kindOfMarker,
  rootKind,
  type SharedRoot,
} from '../yjs/root-kind.ts'
import { plainValues } from '../yjs/sequence-content.ts'
import type { DocumentHistory, HistoryState, ItemPart } from './document-history.ts'

/** How a shared type organizes its content. The forms `map` and `array` contain values, and the others contain text. */
export type TypeForm = 'text' | 'xml' | 'map' | 'array'

/** Returns the form of a shared type that is the content of an item. */
export function formOfType(type: object): TypeForm {
  if (type instanceof Y.Map && !(type instanceof Y.XmlHook)) return 'map'
  if (type instanceof Y.Array) return 'array'
  return type instanceof Y.Text ? 'text' : 'xml'
}

const formsOfKinds: Readonly<Record<KnownKind, TypeForm>> = {
  map: 'map',
  array: 'array',
  xml: 'xml',
  xmltext: 'text',
  text: 'text',
}

/** Returns the form of a root. If the root is empty, its deleted content shows the form. */
export function formOfRoot(doc: Y.Doc, contentKey: string): TypeForm {
  const kind = rootKind(doc, contentKey)
  if (kind !== 'none') return formsOfKinds[kind]
  const root = doc.share.get(contentKey) as SharedRoot
  for (let item = root._start; item !== null; item = item.right) {
    if (item.content instanceof Y.ContentDeleted || kindOfMarker(item) !== null) continue
    const evidence = deletedEvidenceOf(item.content)
    if (evidence === 'element') return 'xml'
    return evidence === 'array' || evidence === 'value' ? 'array' : 'text'
  }
  return root._start === null && root._map.size > 0 ? 'map' : 'text'
}

/** A version of a history: the earlier or the later one. */
export type HistoryVersion = 'from' | 'to'

/** Returns whether a version contains content with this state. */
export const isIn = (version: HistoryVersion, state: HistoryState): boolean =>
  state === 'unchanged' || state === (version === 'from' ? 'deleted' : 'inserted')

/** Returns the characters of a part of an item; '' if the item has no text. */
export const charactersIn = ({ content }: Y.Item, offset: number, length: number): string =>
  content instanceof Y.ContentString ? content.str.slice(offset, offset + length) : ''

/** One value in the history of an entry of a map. */
export interface EntryValue {
  readonly item: Y.Item
  /** Position of the value in the item: Yjs joins deleted items. */
  readonly offset: number
}

/** Returns the values that an entry has had, from the newest one. @param last the newest item of the entry */
function* entryHistory(last: Y.Item): Generator<EntryValue> {
  for (let item: Y.Item | null = last; item !== null; item = item.left)
    for (let offset = item.length - 1; offset >= 0; offset--) yield { item, offset }
}

/** Reads the values that a version of a history has, up to a number of characters. */
export class VersionValues {
  readonly #history: DocumentHistory
  readonly #version: HistoryVersion
  #left: number

  /** @param charactersMax approximate maximum number of characters of all values as JSON */
  constructor(history: DocumentHistory, version: HistoryVersion, charactersMax: number) {
    this.#history = history
    this.#version = version
    this.#left = charactersMax
  }

  /** True if values were left out because of the limit. */
  get isCut(): boolean {
    return this.#left < 0
  }

  /** Returns the value of a root as JSON, without the parts that exceed the limit. */
  ofRoot(root: SharedRoot, form: TypeForm): Json {
    return this.#ofType(root, form)
  }

  /** Returns the values of a part of an item as JSON, without those that exceed the limit. */
  of(item: Y.Item, offset: number, length: number): Json[] {
    const { content } = item
    if (content instanceof Y.ContentType) return [this.#ofType(content.type, formOfType(content.type))]
    if (content instanceof Y.ContentString) return [this.#text(charactersIn(item, offset, length))]
    const values: Json[] = []
    for (const value of plainValues(item.content, offset, length)) {
      if (this.isCut) break
      const json = toJson(value) ?? null
      this.#left -= JSON.stringify(json).length
      if (!this.isCut) values.push(json)
    }
    return values
  }

  #ofType(type: SharedRoot, form: TypeForm): Json {
    this.#left -= 2
    if (form === 'map') return this.#map(type)
    if (form === 'array') return this.#elements(type)
    return this.#textOf(type)
  }

  #map({ _map }: SharedRoot): Json {
    const json: Record<string, Json> = {}
    for (const [key, last] of _map) {
      if (this.isCut) break
      const entry = this.entry(last)
      this.#left -= key.length
      if (entry === null) continue
      const [value] = this.of(entry.item, entry.offset, 1)
      if (value !== undefined) setMember(json, key, value)
    }
    return json
  }

  /** Returns the value of an entry in the version; null without a value. @param last the newest item of the entry */
  entry(last: Y.Item): EntryValue | null {
    for (const entry of entryHistory(last)) {
      const { client, clock } = entry.item.id
      if (isIn(this.#version, this.#history.stateAt(client, clock + entry.offset).state)) return entry
    }
    return null
  }

  #elements(type: SharedRoot): Json[] {
    const elements: Json[] = []
    for (const { item, offset, length } of this.#parts(type))
      for (const value of this.of(item, offset, length)) elements.push(value)
    return elements
  }

  #textOf(type: SharedRoot): string {
    let text = ''
    for (const { item, offset, length } of this.#parts(type))
      if (item.content instanceof Y.ContentType) text += this.#textOf(item.content.type)
      else text += this.#text(charactersIn(item, offset, length))
    return text
  }

  /** Returns the part of a text that is within the limit. */
  #text(text: string): string {
    const start = Math.max(0, this.#left)
    this.#left -= text.length
    return text.slice(0, start)
  }

  *#parts({ _start }: SharedRoot): Generator<ItemPart> {
    for (let item = _start; item !== null && !this.isCut; item = item.right) {
      if (!item.countable) continue
      for (const part of this.#history.partsOf(item)) if (isIn(this.#version, part.state)) yield part
    }
  }
}
