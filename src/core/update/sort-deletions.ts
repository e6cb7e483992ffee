import { readUpdate } from './read-update.ts'
import { pushVarUint } from './state-vector.ts'

/** Deleted clocks of a client: `end` is the clock after the last one. */
export type DeletedRange = readonly [from: number, end: number]

/**
 * Returns a vetted update (V1) with the deleted ranges of each client sorted and joined, as Yjs writes them.
 * Returns the update itself if they are in order. Yjs applies ranges in the order of the bytes. In another
 * order, it would shift or visit all structs of the client for each range.
 */
export function sortDeletions(bytes: Uint8Array): Uint8Array {
  const { structsEnd, deletesInOrder } = readUpdate(bytes)
  if (deletesInOrder) return bytes
  const deleted = new Map<number, DeletedRange[]>()
  readUpdate(bytes, {
    item: () => {},
    deletion: (client, clock, length) => {
      const ranges = deleted.get(client)
      if (ranges === undefined) deleted.set(client, [[clock, clock + length]])
      else ranges.push([clock, clock + length])
    },
  })
  const sorted = [...deleted].map(([client, ranges]) => [client, joined(ranges)] as const)
  return Buffer.concat([bytes.subarray(0, structsEnd), writeDeletions(new Map(sorted))])
}

/** Encodes the deletions of an update (V1), by client. */
export function writeDeletions(deleted: ReadonlyMap<number, readonly DeletedRange[]>): Uint8Array {
  const bytes: number[] = []
  pushVarUint(bytes, deleted.size)
  for (const [client, ranges] of deleted) writeRanges(bytes, client, ranges)
  return Uint8Array.from(bytes)
}

function joined(ranges: DeletedRange[]): readonly DeletedRange[] {
  const all: DeletedRange[] = []
  for (const [from, end] of ranges.sort(([a], [b]) => a - b)) {
    const last = all.at(-1)
    if (last !== undefined && from <= last[1]) all[all.length - 1] = [last[0], Math.max(last[1], end)]
    else all.push([from, end])
  }
  return all
}

function writeRanges(bytes: number[], client: number, ranges: readonly DeletedRange[]): void {
  pushVarUint(bytes, client)
  pushVarUint(bytes, ranges.length)
  for (const [from, end] of ranges) {
    pushVarUint(bytes, from)
    pushVarUint(bytes, end - from)
  }
}
