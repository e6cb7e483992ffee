import * as Y from 'yjs'

export const contentKey = 'content'

/** An expensive replacement. */
export interface HeavyCase {
  readonly type: 'text' | 'array' | 'map' | 'xml' | 'delta'
  readonly name: string
  /** Creates a new document with the content before the replacement. */
  readonly before: () => Y.Doc
  readonly data: unknown
  /** Share of the content that an exact difference would keep, if this share is known. */
  readonly keeps?: number
}

/**
 * Returns a document with the result of `write`. The document is loaded from an update, like a document of a
 * server.
 */
export function loaded(write: (author: Y.Doc) => void): Y.Doc {
  const author = new Y.Doc()
  write(author)
  const doc = new Y.Doc()
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(author))
  return doc
}
