import { ByteReader, clockMax } from '../update/byte-reader.ts'
import { readUpdate } from '../update/read-update.ts'
import { writeStateVector } from '../update/state-vector.ts'

/** Next expected clock of each client. */
export type NextClocks = ReadonlyMap<number, number>

/** Ranges of deleted clocks of each client: ascending and disjoint, with `to` excluded. */
export type Deletions = ReadonlyMap<number, readonly { readonly from: number; readonly to: number }[]>

/** The clocks that an update of a document contains or deletes. */
export interface Coverage {
  readonly blocks: readonly { readonly client: number; readonly from: number; readonly to: number }[]
  readonly deletions: Deletions
}

/**
 * Reads the coverage of an update without integrating it. A client with a gap in its blocks is left out, because its
 * blocks after the gap cannot be integrated.
 * @throws MalformedUpdateError
 */
export function coverageOf(update: Uint8Array): Coverage {
  const { clients, structsEnd } = readUpdate(update, { allowSubdocuments: true })
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

/** Merges ranges. Servers with pending deletions append them unsorted. */
function joined(ranges: readonly { from: number; to: number }[]): { from: number; to: number }[] {
  const apart: { from: number; to: number }[] = []
  for (const { from, to } of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = apart.at(-1)
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
    else apart.push({ from, to })
  }
  return apart
}

/** Adds blocks that continue the known clocks. */
export function raise(clocks: Map<number, number>, blocks: Coverage['blocks']): void {
  for (const { client, from, to } of blocks) {
    const known = clocks.get(client) ?? 0
    if (from <= known && to > known) clocks.set(client, to)
  }
}

/**
 * Returns a state vector that makes a server prove, with few bytes, that it has all of `wanted`. For each client that
 * is not proved yet, the vector asks from the last wanted clock, so that the answer contains this clock if the server
 * has it.
 * @param known clocks that the server is known to have
 */
export function proofQuestion(wanted: NextClocks, known: NextClocks): Uint8Array {
  const question = new Map(known)
  for (const [client, clock] of wanted) if (clock > (known.get(client) ?? 0)) question.set(client, clock - 1)
  return writeStateVector(question)
}

/**
 * Adds the clocks that an answer to `proofQuestion` proves. Only for servers that never answer with pending updates,
 * such as Weft. Answers of Yjs contain them.
 */
export function takeProof(known: Map<number, number>, wanted: NextClocks, answer: Coverage['blocks']): void {
  raise(known, answer)
  for (const { client, from, to } of answer) {
    const clock = wanted.get(client) ?? 0
    if (from < clock && to >= clock) known.set(client, Math.max(to, known.get(client) ?? 0))
  }
}

/** Returns the number of clocks of `wanted` that are not in `known`. */
export function missing(wanted: NextClocks, known: NextClocks): number {
  let count = 0
  for (const [client, clock] of wanted) count += Math.max(0, clock - (known.get(client) ?? 0))
  return count
}

/** Returns the number of clocks below `until` that are deleted in `wanted` but not in `known`. */
export function undeleted(wanted: Deletions, until: NextClocks, known: Deletions): number {
  let count = 0
  for (const [client, ranges] of wanted) {
    const end = until.get(client) ?? 0
    for (const { from, to } of ranges) count += uncovered(from, Math.min(to, end), known.get(client) ?? [])
  }
  return count
}

/**
 * Returns the number of clocks of a range that are not in `ranges`. Finds the first range that may overlap by binary
 * search.
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
