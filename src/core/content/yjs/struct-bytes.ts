import * as encoding from 'lib0/encoding'
import * as Y from 'yjs'
import { addTo } from '../../base/maps.ts'
import { encodeDeletions } from '../../update/deletions.ts'
import type { IdRange } from '../../update/range-index.ts'

export type Struct = Y.Item | Y.GC | Y.Skip

/** Returns an update (V1) with structs, in the order of the clocks of each client, and deletions. */
export function updateOf(structs: readonly Struct[], deleted: readonly IdRange[]): Uint8Array {
  const clients = new Map<number, Struct[]>()
  for (const each of structs) addTo(clients, each.id.client, each)
  const encoder = new Y.UpdateEncoderV1()
  const { restEncoder } = encoder
  encoding.writeVarUint(restEncoder, clients.size)
  for (const [client, ofClient] of [...clients].sort(([a], [b]) => b - a)) {
    encoding.writeVarUint(restEncoder, ofClient.length)
    encoder.writeClient(client)
    encoding.writeVarUint(restEncoder, ofClient[0]?.id.clock ?? 0)
    for (const each of ofClient) each.write(encoder, 0)
  }
  return Buffer.concat([encoding.toUint8Array(restEncoder), encodeDeletions(deleted)])
}

export const gcOf = ({ client, clock, length }: IdRange): Y.GC => new Y.GC(Y.createID(client, clock), length)

export const skipOf = ({ client, clock, length }: IdRange): Y.Skip =>
  new Y.Skip(Y.createID(client, clock), length)
