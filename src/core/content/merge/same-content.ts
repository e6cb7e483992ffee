import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { nameOfType, readSequence, valuesOf } from '../yjs/sequence-content.ts'

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
