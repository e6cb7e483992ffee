import type * as Y from 'yjs'

/** What a document is made of. */
export interface Counts {
  readonly clients: number
  readonly structs: number
  /** Structs of what was deleted, and how many characters and values these were. */
  readonly tombstones: number
  readonly deleted: number
}

/** As the page holds it: neighbours are merged, so that structs are fewer than operations. */
export function countsOf({ store }: Y.Doc): Counts {
  let [structs, tombstones, deleted] = [0, 0, 0]
  for (const own of store.clients.values()) {
    structs += own.length
    for (const struct of own) {
      if (!struct.deleted) continue
      tombstones += 1
      deleted += struct.length
    }
  }
  return { clients: store.clients.size, structs, tombstones, deleted }
}
