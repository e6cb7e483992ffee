import { ByteReader } from './byte-reader.ts'
import { readOutline } from './outline.ts'

/** How a document is made up. */
export interface Statistics {
  /** Structs: what was inserted in one go, or deleted in one piece, and has not been divided since. */
  readonly structs: number
  /** What was deleted, in clocks: UTF-16 code units of text; values, shared types, embeds and formatting marks count one. */
  readonly tombstones: number
  /** Clients that have structs, deleted ones too. */
  readonly clients: number
}

/** Of a whole state (V1), as Yjs has written it: nothing is left out, and nothing is deleted twice. @throws MalformedUpdateError */
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
