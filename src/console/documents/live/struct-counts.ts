import type * as Y from 'yjs'

/** Numbers of Yjs structures in a document. */
export interface StructCounts {
  readonly clients: number
  readonly structs: number
  /**
   * Size of the tombstones of deleted content: characters, values and formatting marks, counted in the same
   * way as on the server.
   */
  readonly tombstones: number
}

/** Counts the structs in the page. There are fewer structs than operations, because Yjs merges neighbors. */
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
