import { ByteReader, clockMax } from '../update/byte-reader.ts'
import { readUpdate } from '../update/read-update.ts'
import { writeStateVector } from '../update/state-vector.ts'

/** The next expected clock of each client, by client id. */
export type NextClocks = ReadonlyMap<number, number>

/**
 * Ranges of deleted clocks of each client, by client id. The ranges are ascending and do not overlap. `to` is
 * exclusive.
 */
export type Deletions = ReadonlyMap<number, readonly { readonly from: number; readonly to: number }[]>

/** The clocks that an update of a document contains or deletes. */
export interface Coverage {
  readonly blocks: readonly { readonly client: number; readonly from: number; readonly to: number }[]
  readonly deletions: Deletions
}

/**
 * Reads an update without applying it, and returns the clocks that it contains and deletes. A client with a
 * gap in its blocks is omitted, because Yjs cannot apply the blocks after the gap.
 * @throws MalformedUpdateError
 */
export function coverageOf(update: Uint8Array): Coverage {
  const { clients, structsEnd } = readUpdate(update)
  return {
    blocks: clients.filter(({ skips }) => !skips).map(({ client, from, to }) => ({ client, from, to })),
    deletions: readDeletions(update.subarray(structsEnd)),
  }
}

function readDeletions(bytes: Uint8Array): Deletions {
  const reader = new ByteReader(bytes)
  const deletions = new Map<number, { from: number; to: number }[]>()
  for (let left = reader.count(2, clockMax); left > 0; left--) {
    const client = reader.varUint()
    const ranges: { from: number; to: number }[] = []
    for (let more = reader.count(2, clockMax); more > 0; more--) {
      const from = reader.clock()
      ranges.push({ from, to: from + reader.clock() })
    }
    deletions.set(client, joined(ranges))
  }
  return deletions
}

/**
 * Sorts ranges, and merges those that overlap or touch. The ranges of an update may be unsorted, because a
 * server appends its pending deletions to the others.
 */
function joined(ranges: readonly { from: number; to: number }[]): { from: number; to: number }[] {
  const apart: { from: number; to: number }[] = []
  for (const { from, to } of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = apart.at(-1)
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
    else apart.push({ from, to })
  }
  return apart
}

/** Raises the known clocks by the blocks that continue them without a gap. */
export function raise(clocks: Map<number, number>, blocks: Coverage['blocks']): void {
  for (const { client, from, to } of blocks) {
    const known = clocks.get(client) ?? 0
    if (from <= known && to > known) clocks.set(client, to)
  }
}

/**
 * Returns a state vector for a request whose answer proves that a server has all clocks of `wanted`. The
 * answer is short: for each client whose clocks are not proved yet, it contains only the last wanted clock,
 * if the server has that clock.
 * @param known clocks that the server is known to have
 */
export function proofQuestion(wanted: NextClocks, known: NextClocks): Uint8Array {
  const question = new Map(known)
  for (const [client, clock] of wanted) if (clock > (known.get(client) ?? 0)) question.set(client, clock - 1)
  return writeStateVector(question)
}

/**
 * Adds the clocks that an answer to `proofQuestion` proves to the known clocks. The server must not include
 * pending updates in its answers. Weft fulfills this condition, but Yjs does not.
 */
export function takeProof(known: Map<number, number>, wanted: NextClocks, answer: Coverage['blocks']): void {
  raise(known, answer)
  for (const { client, from, to } of answer) {
    const clock = wanted.get(client) ?? 0
    if (from < clock && to >= clock) known.set(client, Math.max(to, known.get(client) ?? 0))
  }
}

/** Returns the number of clocks in `wanted` that are not in `known`. */
export function missing(wanted: NextClocks, known: NextClocks): number {
  let count = 0
  for (const [client, clock] of wanted) count += Math.max(0, clock - (known.get(client) ?? 0))
  return count
}

/**
 * Returns the number of clocks that are deleted in `wanted` but not in `known`. Only clocks below `until`
 * count.
 */
export function undeleted(wanted: Deletions, until: NextClocks, known: Deletions): number {
  let count = 0
  for (const [client, ranges] of wanted) {
    const end = until.get(client) ?? 0
    for (const { from, to } of ranges) count += uncovered(from, Math.min(to, end), known.get(client) ?? [])
  }
  return count
}

/**
 * Returns the number of clocks in a range that are not in `ranges`. Uses binary search for the first range
 * that may overlap.
 */
function uncovered(from: number, to: number, ranges: readonly { from: number; to: number }[]): number {
  let [low, high] = [0, ranges.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ranges[middle]?.to ?? 0) <= from) low = middle + 1
    else high = middle
  }
  let left = Math.max(0, to - from)
  for (let at = low; at < ranges.length; at++) {
    const range = ranges[at]
    if (range === undefined || range.from >= to) break
    left -= Math.min(to, range.to) - Math.max(from, range.from)
  }
  return left
}
