import * as Y from 'yjs'
import type { Root } from '../../../content/kind.ts'
import type { Person } from './people.ts'
import type { Caret } from './runs.ts'

/** Where cursors are. */
export interface Places {
  /** In texts. */
  readonly carets: ReadonlyMap<Root, readonly Caret[]>
  /** Names of the roots in which clients have their cursors. */
  readonly roots: ReadonlyMap<number, string>
}

export function placesOf(doc: Y.Doc, people: readonly Person[]): Places {
  const carets = new Map<Root, Caret[]>()
  const roots = new Map<number, string>()
  for (const { clientId, name, colour, cursor } of people) {
    const place = cursor && resolved(doc, cursor.head)
    if (!place) continue
    const type = place.type as Root
    const caret = { index: place.index, clientId, name, colour }
    carets.set(type, [...(carets.get(type) ?? []), caret])
    const root = rootOf(doc, type)
    if (root !== null) roots.set(clientId, root)
  }
  return { carets, roots }
}

/** Clients say what they like: what is no position in this document is none. */
function resolved(doc: Y.Doc, said: unknown): Y.AbsolutePosition | null {
  try {
    const json = typeof said === 'string' ? (JSON.parse(said) as unknown) : said
    const position = Y.createRelativePositionFromJSON(json)
    if (position.tname != null && !doc.share.has(position.tname)) return null
    return Y.createAbsolutePositionFromRelativePosition(position, doc)
  } catch {
    return null
  }
}

function rootOf(doc: Y.Doc, type: Root): string | null {
  let top: Root = type
  while (top._item !== null) top = top._item.parent as Root
  for (const [name, root] of doc.share) if (root === top) return name
  return null
}
