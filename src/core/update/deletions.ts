import * as encoding from 'lib0/encoding'
import * as Y from 'yjs'
import { addTo } from '../base/maps.ts'
import { ByteReader } from './byte-reader.ts'
import { disjoint, type IdRange } from './range-index.ts'
import { readUpdate } from './read-update.ts'
import type { UpdateSummary } from './summary.ts'

/** Calls `found` with the deleted ranges of a vetted update (V1), in the order of the bytes. */
export function forDeletions(
  bytes: Uint8Array,
  { structsEnd }: Pick<UpdateSummary, 'structsEnd'>,
  found: (client: number, clock: number, length: number) => void,
): void {
  const reader = new ByteReader(bytes)
  reader.at = structsEnd
  for (let left = reader.varUint(); left > 0; left--) {
    const client = reader.varUint()
    for (let ranges = reader.varUint(); ranges > 0; ranges--) found(client, reader.clock(), reader.clock())
  }
}

/** Yields the ranges of a set of deletions of Yjs. */
export function* deletedRanges({ clients }: ReturnType<typeof Y.createDeleteSet>): Generator<IdRange> {
  for (const [client, ranges] of clients)
    for (const { clock, len } of ranges) yield { client, clock, length: len }
}

/** Encodes the deletions of an update (V1), which follow its structs. The ranges are disjoint. */
export const encodeDeletions = (ranges: readonly IdRange[]): Uint8Array =>
  encoding.encode((encoder) => writeDeletions(encoder, ranges))

/** Returns an update (V1) that deletes ids and inserts nothing. */
export const deletionOf = (ranges: readonly IdRange[]): Uint8Array =>
  encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, 0)
    writeDeletions(encoder, ranges)
  })

function writeDeletions(encoder: encoding.Encoder, ranges: readonly IdRange[]): void {
  const clients = new Map<number, IdRange[]>()
  for (const range of ranges) addTo(clients, range.client, range)
  encoding.writeVarUint(encoder, clients.size)
  for (const [client, ofClient] of [...clients].sort(([a], [b]) => b - a)) {
    encoding.writeVarUint(encoder, client)
    encoding.writeVarUint(encoder, ofClient.length)
    for (const { clock, length } of ofClient.sort((a, b) => a.clock - b.clock)) {
      encoding.writeVarUint(encoder, clock)
      encoding.writeVarUint(encoder, length)
    }
  }
}

/**
 * Returns a vetted update (V1) with the deleted ranges of each client sorted and joined, as Yjs writes them.
 * Returns the update itself if they are in order. Yjs applies ranges in the order of the bytes. In another
 * order, it would shift or visit all structs of the client for each range.
 */
export function sortDeletions(bytes: Uint8Array): Uint8Array {
  const summary = readUpdate(bytes)
  if (summary.deletesInOrder) return bytes
  const deleted: IdRange[] = []
  forDeletions(bytes, summary, (client, clock, length) => deleted.push({ client, clock, length }))
  return Buffer.concat([bytes.subarray(0, summary.structsEnd), encodeDeletions(disjoint(deleted))])
}

/**
 * Returns a vetted update (V1) without the ranges that are already deleted in a document. Its ranges must be in order
 * (`deletesInOrder`). Returns the update itself if all ranges are new. Takes n·log n for n ranges, and a step for each
 * struct in them.
 */
export function withoutKnownDeletions(
  bytes: Uint8Array,
  outline: Pick<UpdateSummary, 'structsEnd'>,
  { clients }: Y.Doc['store'],
): Uint8Array {
  const unknown: IdRange[] = []
  let hasKnown = false
  let deleted: DeletedStructs | null = null
  forDeletions(bytes, outline, (client, clock, length) => {
    if (deleted?.client !== client) deleted = new DeletedStructs(client, clients.get(client) ?? [])
    if (deleted.has(clock, clock + length)) hasKnown = true
    else unknown.push({ client, clock, length })
  })
  return hasKnown ? Buffer.concat([bytes.subarray(0, outline.structsEnd), encodeDeletions(unknown)]) : bytes
}

/** Number of structs after the previous range among which the next range is searched first. */
const nearMax = 8

/** The structs of a client, for ascending ranges. */
class DeletedStructs {
  readonly client: number
  readonly #structs: (Y.Item | Y.GC)[]
  readonly #end: number
  #index = 0

  constructor(client: number, structs: (Y.Item | Y.GC)[]) {
    const last = structs.at(-1)
    this.client = client
    this.#structs = structs
    this.#end = last === undefined ? 0 : last.id.clock + last.length
  }

  /** Returns whether the document has a range, and all of it is deleted. */
  has(from: number, end: number): boolean {
    if (end > this.#end) return false
    this.#index = this.#find(from)
    for (let clock = from; clock < end; this.#index++) {
      const struct = this.#structs[this.#index]
      if (struct?.deleted !== true) return false
      clock = struct.id.clock + struct.length
      if (clock >= end) break
    }
    return true
  }

  #find(clock: number): number {
    for (let index = this.#index; index < this.#index + nearMax; index++) {
      const struct = this.#structs[index]
      if (struct !== undefined && clock < struct.id.clock + struct.length) return index
    }
    return Y.findIndexSS(this.#structs, clock)
  }
}
