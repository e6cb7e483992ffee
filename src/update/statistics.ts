import { ByteReader } from './byte-reader.ts'
import { readOutline } from './outline.ts'

/** Statistics of a document. */
export interface Statistics {
  /** Structs: content that was inserted at once, or deleted as one part, and has not been split since. */
  readonly structs: number
  /**
   * Deleted content in clocks: UTF-16 code units of text; values, shared types, embeds and formatting marks
   * count one each.
   */
  readonly tombstones: number
  /** Clients with structs, including deleted ones. */
  readonly clients: number
}

/**
 * Reads the statistics of a whole state (V1) that Yjs has written: it has no gaps and no repeated deletions.
 * @throws MalformedUpdateError
 */
export function readStatistics(bytes: Uint8Array): Statistics {
  const { clients, structsEnd } = readOutline(bytes)
  const structs = clients.reduce((sum, block) => sum + block.structs, 0)
  return { structs, tombstones: deletedIn(bytes, structsEnd), clients: clients.length }
}

function deletedIn(bytes: Uint8Array, structsEnd: number): number {
  const reader = new ByteReader(bytes)
  reader.at = structsEnd
  let deleted = 0
  for (let clients = reader.varUint(); clients > 0; clients--) {
    reader.varUint()
    for (let ranges = reader.varUint(); ranges > 0; ranges--) {
      reader.clock()
      deleted += reader.clock()
    }
  }
  return deleted
}
