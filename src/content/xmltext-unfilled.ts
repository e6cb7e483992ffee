import * as Y from 'yjs'
import { asRoot, type Root } from './kind.ts'
import type { SharedNode } from './xmltext-data.ts'
import type { ChildNode } from './xmltext-nodes.ts'

/** A shared type that is inserted empty, and what is to be in it. */
export interface Unfilled {
  readonly type: Root
  readonly target: ChildNode
}

/** A new shared type of the kind that the target has; null for embeds, which are plain values. */
export function unfilledOf(target: ChildNode): Unfilled | null {
  return target.shared.kind === 'embed' ? null : { type: emptyType(target.shared), target }
}

function emptyType(shared: SharedNode): Root {
  if (shared.kind === 'element') return asRoot(new Y.XmlElement(shared.name))
  return asRoot(shared.kind === 'map' ? new Y.Map() : new Y.XmlText())
}
