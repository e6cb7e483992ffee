import * as Y from 'yjs'
import type { SharedRoot } from '../../../core/content/yjs/root-kind.ts'

/** One value in a shared type. */
export interface TreeCell {
  /** Key for the list of components. It stays the same while the value exists. */
  readonly key: string
  /** Name of the member or attribute; null if the value is in a sequence. */
  readonly name: string | null
  readonly value: unknown
  readonly client: number
  readonly clock: number
}

/** Returns the first values of a sequence, and the number of the remaining values. */
export function sequenceCells(
  sequence: SharedRoot,
  limit: number,
): { readonly cells: readonly TreeCell[]; readonly rest: number } {
  const cells: TreeCell[] = []
  for (let item = sequence._start; item !== null && cells.length < limit; item = item.right) {
    if (item.deleted || !item.countable) continue
    const { client, clock } = item.id
    for (const [offset, value] of item.content.getContent().entries()) {
      if (cells.length === limit) break
      cells.push({ key: `${client}:${clock + offset}`, name: null, value, client, clock: clock + offset })
    }
  }
  return { cells, rest: sequence._length - cells.length }
}

/**
 * Returns the first entries ordered by name, and the number of the remaining entries. The entries are the
 * members of a map or the attributes of an element.
 */
export function mapCells(
  { _map }: SharedRoot,
  limit: number,
): { readonly cells: readonly TreeCell[]; readonly rest: number } {
  const live = [..._map].filter(([, item]) => !item.deleted)
  if (limit === 0) return { cells: [], rest: live.length }
  live.sort(([a], [b]) => (a < b ? -1 : 1))
  const cells = live.slice(0, limit).map(
    ([
      name,
      {
        content,
        id: { client, clock },
      },
    ]) => {
      const value = content.getContent().at(-1)
      return { key: name, name, value, client, clock }
    },
  )
  return { cells, rest: live.length - cells.length }
}

/** The form in which the console shows a value. */
type ValueForm =
  | { readonly kind: 'plain'; readonly text: string }
  | { readonly kind: 'json'; readonly value: object }
  | { readonly kind: 'text' | 'array' | 'map'; readonly type: SharedRoot }
  | { readonly kind: 'element'; readonly type: SharedRoot; readonly name: string }

/** Maximum number of characters that are shown of a value. An image in a document may have megabytes. */
const plainMax = 2_000

export function valueFormOf(value: unknown): ValueForm {
  if (value instanceof Y.AbstractType) return sharedForm(value)
  if (value instanceof Uint8Array) return { kind: 'plain', text: `${value.length} bytes` }
  if (value instanceof Y.Doc) return { kind: 'plain', text: `document ${value.guid}` }
  if (typeof value === 'object' && value !== null) return { kind: 'json', value }
  return { kind: 'plain', text: typeof value === 'string' ? quoted(value) : String(value) }
}

const quoted = (text: string): string =>
  text.length <= plainMax
    ? JSON.stringify(text)
    : `${JSON.stringify(text.slice(0, plainMax))} … (${text.length.toLocaleString()} characters)`

function sharedForm(type: SharedRoot): ValueForm {
  if (type instanceof Y.Map) return { kind: 'map', type }
  if (type instanceof Y.Text) return { kind: 'text', type }
  if (type instanceof Y.XmlElement) return { kind: 'element', type, name: type.nodeName }
  return { kind: 'array', type }
}

/** Returns the number of members of plain JSON. */
export const memberCount = (value: object): number =>
  Array.isArray(value) ? value.length : Object.keys(value).length

/** Returns the members of plain JSON in the same form as the members of a shared type. */
export function jsonCells(
  value: object,
  limit: number,
): { readonly cells: readonly TreeCell[]; readonly rest: number } {
  const isArray = Array.isArray(value)
  const shown = isArray ? Object.entries(value.slice(0, limit)) : Object.entries(value).slice(0, limit)
  const cells = shown.map(([name, member]: readonly [string, unknown]) => ({
    key: name,
    name: isArray ? null : name,
    value: member,
    client: 0,
    clock: -1,
  }))
  return { cells, rest: memberCount(value) - cells.length }
}

/**
 * Returns whether an element can be shown in one line. This is the case if its only children are a few texts.
 */
export function isLine(element: SharedRoot): boolean {
  const { cells, rest } = sequenceCells(element, 4)
  return rest === 0 && cells.every(({ value }) => value instanceof Y.XmlText && value._map.size === 0)
}
