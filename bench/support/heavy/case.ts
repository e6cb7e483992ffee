import * as Y from 'yjs'

export const contentKey = 'content'

/** A replacement made to be dear. */
export interface HeavyCase {
  readonly type: 'text' | 'array' | 'map' | 'xml' | 'delta'
  readonly name: string
  /** A new document each time. */
  readonly before: () => Y.Doc
  readonly data: unknown
  /** Share of what there is that an exact difference keeps, where that is known. */
  readonly keeps?: number
}

/** What `write` makes, as a server holds it: loaded from an update. */
export function loaded(write: (author: Y.Doc) => void): Y.Doc {
  const author = new Y.Doc()
  write(author)
  const doc = new Y.Doc()
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(author))
  return doc
}
