import type * as Y from 'yjs'

/** What a document is made of. */
export interface StructCounts {
  readonly clients: number
  readonly structs: number
  /** What was deleted and is kept as a mark: characters, values, and formatting marks, as the server counts them. */
  readonly tombstones: number
}

/** As the page holds it: neighbours are merged, so that structs are fewer than operations. */
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
