import * as Y from 'yjs'
import type { SharedRoot } from '../yjs/root-kind.ts'
import type { SharedNode } from './data.ts'
import type { ChildNode } from './nodes.ts'

/** A shared type that is inserted empty, and the content that it must get. */
export interface EmptyType {
  readonly type: SharedRoot
  readonly target: ChildNode
}

/**
 * Returns a new, empty shared type of the target's kind. Returns null if the target is an embed, which is a
 * plain value.
 */
export function emptyTypeFor(target: ChildNode): EmptyType | null {
  return target.shared.kind === 'embed' ? null : { type: emptyType(target.shared), target }
}

function emptyType(shared: SharedNode): SharedRoot {
  if (shared.kind === 'element') return new Y.XmlElement(shared.name)
  return shared.kind === 'map' ? new Y.Map() : new Y.XmlText()
}
