import * as Y from 'yjs'
import type { SharedRoot } from '../yjs/root-kind.ts'

/** The children of an element or a fragment. */
interface XmlChildren {
  /** Child elements, hooks, and texts that have attributes. */
  readonly nodes: readonly SharedRoot[]
  /**
   * All other texts in groups: before the first node, between two nodes, and after the last node. There is
   * one group more than nodes.
   */
  readonly texts: readonly (readonly SharedRoot[])[]
}

/** Returns the live children; null if an item cannot be a child of an element. */
export function childrenOf(parent: SharedRoot): XmlChildren | null {
  const nodes: SharedRoot[] = []
  const texts: SharedRoot[][] = [[]]
  for (let item = parent._start; item !== null; item = item.right) {
    if (item.deleted || !item.countable) continue
    if (!(item.content instanceof Y.ContentType)) return null
    const type = item.content.type
    if (isPlainText(type)) texts.at(-1)?.push(type)
    else {
      nodes.push(type)
      texts.push([])
    }
  }
  return { nodes, texts }
}

/** Returns whether the type is a text without attributes. A text with attributes counts as a node. */
const isPlainText = (type: SharedRoot): boolean =>
  type instanceof Y.XmlText && [...type._map.values()].every(({ deleted }) => deleted)
