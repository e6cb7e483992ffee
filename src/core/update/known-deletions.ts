import * as Y from 'yjs'
import { ByteReader } from './byte-reader.ts'
import { type DeletedRange, pushTo, writeDeletions } from './integrable-part.ts'
import type { UpdateSummary } from './summary.ts'

/**
 * Returns a vetted update (V1) without the ranges that are already deleted in a document. Its ranges must be in order
 * (`deletesInOrder`). Returns the update itself if all ranges are new. Takes n·log n for n ranges, and a step for each
 * struct in them.
 */
export function withoutKnownDeletions(
  bytes: Uint8Array,
  { structsEnd }: Pick<UpdateSummary, 'structsEnd'>,
  { clients }: Y.Doc['store'],
): Uint8Array {
  const reader = new ByteReader(bytes)
  reader.at = structsEnd
  const unknown = new Map<number, DeletedRange[]>()
  let hasKnown = false
  for (let left = reader.varUint(); left > 0; left--) {
    const client = reader.varUint()
    const deleted = new DeletedStructs(clients.get(client) ?? [])
    for (let ranges = reader.varUint(); ranges > 0; ranges--) {
      const from = reader.clock()
      const end = from + reader.clock()
      if (deleted.has(from, end)) hasKnown = true
      else pushTo<DeletedRange>(unknown, client, [from, end])
    }
  }
  return hasKnown ? Buffer.concat([bytes.subarray(0, structsEnd), writeDeletions(unknown)]) : bytes
}

/** Number of structs after the previous range among which the next range is searched first. */
const nearMax = 8

/** The structs of a client, for ascending ranges. */
class DeletedStructs {
  readonly #structs: (Y.Item | Y.GC)[]
  readonly #end: number
  #index = 0

  constructor(structs: (Y.Item | Y.GC)[]) {
    const last = structs.at(-1)
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
