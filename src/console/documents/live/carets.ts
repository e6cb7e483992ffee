import * as Y from 'yjs'
import type { SharedRoot } from '../../../core/content/yjs/root-kind.ts'
import type { AwarenessUser } from './awareness-users.ts'
import type { Caret } from './text-runs.ts'

/** Positions of cursors in a document. */
interface CaretPositions {
  /** Cursors of each text, by the text. */
  readonly carets: ReadonlyMap<SharedRoot, readonly Caret[]>
  /** Name of the root that contains the cursor of each client, by client id. */
  readonly roots: ReadonlyMap<number, string>
}

export function caretPositions(doc: Y.Doc, people: readonly AwarenessUser[]): CaretPositions {
  const carets = new Map<SharedRoot, Caret[]>()
  const roots = new Map<number, string>()
  for (const { clientId, name, color, cursor } of people) {
    const place = cursor && resolved(doc, cursor.head)
    if (!place) continue
    const { type, index } = place
    const caret = { index, clientId, name, color }
    carets.set(type, [...(carets.get(type) ?? []), caret])
    const root = rootOf(doc, type)
    if (root !== null) roots.set(clientId, root)
  }
  return { carets, roots }
}

/**
 * Returns the position that a value stands for in this document. Returns null if the value is not a position;
 * clients can send any value.
 */
function resolved(doc: Y.Doc, encoded: unknown): Y.AbsolutePosition | null {
  try {
    const json: unknown = typeof encoded === 'string' ? JSON.parse(encoded) : encoded
    const position = Y.createRelativePositionFromJSON(json)
    if (position.tname != null && !doc.share.has(position.tname)) return null
    return Y.createAbsolutePositionFromRelativePosition(position, doc)
  } catch {
    return null
  }
}

function rootOf(doc: Y.Doc, type: SharedRoot): string | null {
  let top: SharedRoot = type
  while (top._item !== null) top = top._item.parent as SharedRoot
  for (const [name, root] of doc.share) if (root === top) return name
  return null
}
