import { readUpdate } from './read-update.ts'
import { pushVarUint } from './state-vector.ts'

type Range = readonly [from: number, end: number]

/**
 * Returns a vetted update (V1) with the deleted ranges of each client sorted and joined, as Yjs writes them.
 * Returns the update itself if they are in order. Yjs applies ranges in the order of the bytes. In another
 * order, it would shift or visit all structs of the client for each range.
 */
export function sortDeletions(bytes: Uint8Array): Uint8Array {
  const { structsEnd, deletesInOrder } = readUpdate(bytes)
  if (deletesInOrder) return bytes
  const deleted = new Map<number, Range[]>()
  readUpdate(bytes, {
    item: () => {},
    deletion: (client, clock, length) => {
      const ranges = deleted.get(client)
      if (ranges === undefined) deleted.set(client, [[clock, clock + length]])
      else ranges.push([clock, clock + length])
    },
  })
  const written: number[] = []
  pushVarUint(written, deleted.size)
  for (const [client, ranges] of deleted) writeRanges(written, client, joined(ranges))
  return Buffer.concat([bytes.subarray(0, structsEnd), Uint8Array.from(written)])
}

function joined(ranges: Range[]): readonly Range[] {
  const all: Range[] = []
  for (const [from, end] of ranges.sort(([a], [b]) => a - b)) {
    const last = all.at(-1)
    if (last !== undefined && from <= last[1]) all[all.length - 1] = [last[0], Math.max(last[1], end)]
    else all.push([from, end])
  }
  return all
}

function writeRanges(bytes: number[], client: number, ranges: readonly Range[]): void {
  pushVarUint(bytes, client)
  pushVarUint(bytes, ranges.length)
  for (const [from, end] of ranges) {
    pushVarUint(bytes, from)
    pushVarUint(bytes, end - from)
  }
}
