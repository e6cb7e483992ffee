import * as encoding from 'lib0/encoding'
import { addTo } from '../../base/maps.ts'
import type { IdRange } from '../yjs/range-index.ts'

/** Returns an update (V1) that deletes ids and inserts nothing. */
export function deletionOf(ranges: readonly IdRange[]): Uint8Array {
  const clients = new Map<number, IdRange[]>()
  for (const range of ranges) {
    addTo(clients, range.client, range)
  }
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, 0)
  encoding.writeVarUint(encoder, clients.size)
  for (const [client, ofClient] of [...clients].sort(([a], [b]) => b - a)) {
    encoding.writeVarUint(encoder, client)
    encoding.writeVarUint(encoder, ofClient.length)
    for (const { clock, length } of ofClient.toSorted((a, b) => a.clock - b.clock)) {
      encoding.writeVarUint(encoder, clock)
      encoding.writeVarUint(encoder, length)
    }
  }
  return encoding.toUint8Array(encoder)
}
