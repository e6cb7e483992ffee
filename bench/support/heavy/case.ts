import * as Y from 'yjs'

export const contentKey = 'content'

/** An expensive replacement. */
export interface HeavyCase {
  readonly type: 'text' | 'array' | 'map' | 'xml' | 'delta'
  readonly name: string
  /** Creates a new document. */
  readonly before: () => Y.Doc
  readonly data: unknown
  /** Share of the content that an exact difference keeps, if known. */
  readonly keeps?: number
}

/** Returns the result of `write` like a document of a server: loaded from an update. */
export function loaded(write: (author: Y.Doc) => void): Y.Doc {
  const author = new Y.Doc()
  write(author)
  const doc = new Y.Doc()
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(author))
  return doc
}
