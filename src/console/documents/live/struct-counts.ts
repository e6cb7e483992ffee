import type * as Y from 'yjs'

/** Numbers of Yjs structures in a document. */
export interface StructCounts {
  readonly clients: number
  readonly structs: number
  /**
   * Size of deleted content whose tombstones remain. Characters, values and formatting marks are counted in
   * the same way as on the server.
   */
  readonly tombstones: number
}

/**
 * Counts the structs of the document in the page. Yjs merges adjacent structs, so there are fewer structs
 * than operations.
 */
export function countStructs({ store }: Y.Doc): StructCounts {
  let [structs, tombstones] = [0, 0]
  for (const own of store.clients.values()) {
    structs += own.length
    for (const struct of own) {
      if (struct.deleted) tombstones += struct.length
    }
  }
  return { clients: store.clients.size, structs, tombstones }
}
