import { ByteReader } from './byte-reader.ts'
import { nullIfMalformed } from './malformed.ts'
import { type Outline, readOutline } from './outline.ts'
import { readUpdate } from './read-update.ts'
import { encodeVarUints } from './state-vector.ts'

export interface Joined {
  readonly bytes: Uint8Array
  /** Next expected clock of each client. */
  readonly clocks: Map<number, number>
  /** Offset in `bytes` where the structs end and the deletions start. */
  readonly structsEnd: number
  readonly structs: number
}

/** The structs of one client from several updates, as parts whose bytes follow each other. */
export interface StructRun {
  /** Clock of the first struct; `to` is the clock after the last one. */
  readonly from: number
  to: number
  structs: number
  readonly parts: Uint8Array[]
}

/**
 * Joins a whole state and the updates that continue it to one whole state (V1), by copying bytes. The
 * alternatives are slower or larger: the time of `mergeUpdates` is quadratic in the number of updates, and a
 * Y.Doc takes many times the memory. Adjacent structs are not merged, and deleted content is not dropped.
 *
 * Returns null if only Yjs can join the updates. This is the case if an update after the first one deletes
 * content, or if the structs of a client do not start at clock 0, have a gap, or overlap.
 */
export function joinUpdates(updates: readonly Uint8Array[]): Joined | null {
  const [only] = updates
  if (only !== undefined && updates.length === 1) return wholeState(only)
  const runs = new Map<number, StructRun>()
  let deletions: Uint8Array = noDeletions
  for (const [index, bytes] of updates.entries()) {
    const outline = outlineOf(bytes, index === 0 ? 'whole' : 'addition')
    if (outline === null || !goOn(runs, bytes, outline)) return null
    if (index === 0) deletions = bytes.subarray(outline.structsEnd)
  }
  const clocks = new Map([...runs].map(([client, { to }]) => [client, to]))
  const bytes = writeUpdate(runs, deletions)
  const structs = [...runs.values()].reduce((sum, run) => sum + run.structs, 0)
  return { clocks, bytes, structsEnd: bytes.length - deletions.length, structs }
}

/** Joins nothing: it makes no runs, which would take three times as long for a state of many clients. */
function wholeState(bytes: Uint8Array): Joined | null {
  const outline = outlineOf(bytes, 'whole')
  if (outline === null) return null
  const { clients, structsEnd } = outline
  if (clients.some(({ from, skips }) => from > 0 || skips)) return null
  const clocks = new Map(clients.map(({ client, to }) => [client, to]))
  return { clocks, bytes, structsEnd, structs: clients.reduce((sum, { structs }) => sum + structs, 0) }
}

const noDeletions = Uint8Array.of(0)

/**
 * Returns the outline of an update. Returns null if the bytes are not an update. For an addition, also
 * returns null if it deletes content, or if no client may send it (Yjs may accept it).
 */
function outlineOf(bytes: Uint8Array, as: 'whole' | 'addition'): Outline | null {
  if (as === 'whole') return nullIfMalformed(() => readOutline(bytes))
  const summary = nullIfMalformed(() => readUpdate(bytes))
  return summary === null || summary.deletes > 0 ? null : summary
}

/**
 * Adds the structs of an update to the runs. Returns false if the update does not start where the previous
 * updates end.
 */
function goOn(runs: Map<number, StructRun>, bytes: Uint8Array, { clients }: Outline): boolean {
  for (const { client, from, to, skips, structs, start, end } of clients) {
    const run = runs.get(client) ?? { from: 0, to: 0, structs: 0, parts: [] }
    if (skips || from !== run.to) return false
    runs.set(client, run)
    run.structs += structs
    run.to = to
    run.parts.push(bytes.subarray(start, end))
  }
  return true
}

/**
 * Encodes an update from runs and from deletions that are already encoded. The clients are in the order in
 * which Yjs writes them, because Yjs relies on this order when it merges updates.
 */
export function writeUpdate(runs: ReadonlyMap<number, StructRun>, deletions: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [encodeVarUints(runs.size)]
  for (const [client, { structs, from, parts: structBytes }] of [...runs].sort(([a], [b]) => b - a))
    parts.push(encodeVarUints(structs, client, from), ...structBytes)
  return Buffer.concat([...parts, deletions])
}

/**
 * Returns the number of clients that have deletions in an update (`clients`), and the offset at which the
 * deletions of the first client start (`start`).
 */
export function deletionsIn(bytes: Uint8Array, structsEnd: number): { clients: number; start: number } {
  const reader = new ByteReader(bytes)
  reader.skip(structsEnd)
  return { clients: reader.varUint(), start: reader.at }
}
