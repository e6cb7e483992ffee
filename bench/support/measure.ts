import * as Y from 'yjs'

/** Time and size of one replacement. */
export interface Measured {
  readonly milliseconds: number
  /** Size of the updates for all other clients, in bytes. */
  readonly bytes: number
}

export function measured(doc: Y.Doc, replace: () => void): Measured {
  let bytes = 0
  const count = (update: Uint8Array): void => {
    bytes += update.length
  }
  doc.on('update', count)
  const start = performance.now()
  replace()
  const milliseconds = performance.now() - start
  doc.off('update', count)
  return { milliseconds, bytes }
}

/** A sequence of adjacent characters, values or nodes that are not deleted. */
export interface Stretch {
  readonly id: Y.ID
  readonly length: number
  readonly of: 'characters' | 'values' | 'types'
}

/** Returns all content of a shared type that is not deleted, at any depth. */
export function stretchesIn(
  type: Pick<Y.AbstractType<unknown>, '_start' | '_map'>,
  found: Stretch[] = [],
): Stretch[] {
  const visit = (item: Y.Item): void => {
    if (item.deleted || !item.countable) return
    const { content, id, length } = item
    if (content instanceof Y.ContentType) {
      found.push({ id, length, of: 'types' })
      stretchesIn(content.type, found)
    } else found.push({ id, length, of: content instanceof Y.ContentString ? 'characters' : 'values' })
  }
  for (let item = type._start; item !== null; item = item.right) visit(item)
  for (const item of type._map.values()) visit(item)
  return found
}

/** Returns the share of the stretches that still exists. Returns 1 if there were no stretches. */
export function shareKept({ store }: Y.Doc, stretches: readonly Stretch[]): number {
  let [all, kept] = [0, 0]
  for (const { id, length } of stretches) {
    all += length
    for (let offset = 0; offset < length; ) {
      const item = Y.getItem(store, Y.createID(id.client, id.clock + offset))
      const end = Math.min(length, item.id.clock + item.length - id.clock)
      if (item instanceof Y.Item && !item.deleted) kept += end - offset
      offset = end
    }
  }
  return all === 0 ? 1 : kept / all
}
