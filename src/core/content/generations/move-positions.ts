import * as Y from 'yjs'
import type { StoredId } from '../../update/range-index.ts'
import { noGuid } from '../yjs/create-doc.ts'
import { decodePosition, encodePosition, idOf, itemIn } from '../yjs/items.ts'
import type { Generations } from './generations.ts'
import { allItems } from './rebase.ts'

/**
 * Returns relative positions (base64) at the copies of the content at which they were made. A position at deleted
 * content moves to the next content on its side. Malformed positions and present ones stay.
 * @param items as for `rebase`, of the archives that `neededForPositions` returns
 */
export function movePositions(
  generations: Generations,
  items: ReadonlyMap<number, Uint8Array>,
  present: Uint8Array,
  positions: readonly string[],
): readonly string[] {
  const union = new Y.Doc({ ...noGuid, gc: false })
  try {
    for (const bytes of allItems(generations, items, present)) Y.applyUpdate(union, bytes)
    return positions.map((position) => moved(generations, union, position) ?? position)
  } finally {
    union.destroy()
  }
}

/** Returns the client ids of the archives whose items are needed to move positions. */
export const neededForPositions = (
  generations: Generations,
  positions: readonly string[],
): readonly number[] =>
  generations.archivesOf(
    positions.flatMap((each) => {
      const id = idIn(decoded(each))
      return id === null ? [] : [{ ...id, length: 1 }]
    }),
  )

const idIn = (position: Y.RelativePosition | null): StoredId | null =>
  position?.item ?? position?.type ?? null

function moved(generations: Generations, union: Y.Doc, encoded: string): string | null {
  const position = decoded(encoded)
  const id = idIn(position)
  if (position === null || id === null || !generations.isOld(id)) return null
  const { assoc } = position
  const copied = copyOf(generations, id)
  if (copied !== null)
    return encode(position.item === null ? { type: copied, assoc } : { item: copied, assoc })
  const item = itemIn(union, id)
  if (position.item === null || item === null) return null
  for (let next = step(item, assoc); next !== null; next = step(next, assoc)) {
    const last = { ...idOf(next), clock: next.id.clock + (assoc >= 0 ? 0 : next.length - 1) }
    const copy = generations.isOld(last) && next.countable ? copyOf(generations, last) : null
    if (copy !== null) return encode({ item: copy, assoc })
  }
  return endOf(generations, item.parent as Y.AbstractType<unknown>, assoc)
}

const step = (item: Y.Item, assoc: number): Y.Item | null => (assoc >= 0 ? item.right : item.left)

/** Returns the position at the end, or for a position that is bound to what precedes it the start, of a type. */
function endOf(generations: Generations, type: Y.AbstractType<unknown>, assoc: number): string | null {
  if (type._item === null) return encode({ tname: Y.findRootTypeKey(type), assoc })
  const copied = copyOf(generations, type._item.id)
  return copied && encode({ type: copied, assoc })
}

/** Returns the present id of the content with an id; null if it was deleted before a prune. */
function copyOf(generations: Generations, { client, clock }: StoredId): StoredId | null {
  const [copied] = generations.copiesOf({ client, clock, length: 1 })
  return copied === undefined || generations.isOld(copied) ? null : copied
}

const decoded = (encoded: string): Y.RelativePosition | null => decodePosition(Buffer.from(encoded, 'base64'))

const encode = (json: object): string => encodePosition(Y.createRelativePositionFromJSON(json))
