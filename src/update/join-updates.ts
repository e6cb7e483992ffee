import { ByteReader } from './byte-reader.ts'
import type { VettingOptions } from './item-content.ts'
import { MalformedUpdateError } from './malformed.ts'
import { type Outline, readOutline } from './outline.ts'
import { readUpdate } from './read-update.ts'
import { pushVarUint } from './state-vector.ts'

/** Updates put together. */
export interface Joined {
  readonly bytes: Uint8Array
  /** Next expected clock of each client. */
  readonly clocks: Map<number, number>
  /** Where in `bytes` the structs end, and what is deleted begins. */
  readonly structsEnd: number
  readonly structs: number
}

/** What one client has in the updates: the bytes of its structs, one after the other. */
export interface StructRun {
  /** Clock of the first struct, and clock after the last. */
  readonly from: number
  to: number
  structs: number
  readonly parts: Uint8Array[]
}

const anyContent: VettingOptions = { allowSubdocuments: true }

/**
 * Puts a whole state and updates that go on where it ends together to one whole state (V1), by copying: `mergeUpdates`
 * takes time that grows with the square of their number, and a Y.Doc many times the memory. Nothing is joined to its
 * neighbours, and nothing deleted is thrown away: so null where an update after the first deletes something. Null, too,
 * where a client's structs don't start with the first, or leave some out, or come twice: that is for Yjs to sort out.
 */
export function joinUpdates(updates: readonly Uint8Array[]): Joined | null {
  const runs = new Map<number, StructRun>()
  let deletions: Uint8Array = noDeletions
  for (const [index, bytes] of updates.entries()) {
    const outline = outlineOf(bytes, index === 0 ? 'whole' : 'addition')
    if (outline === null || !goOn(runs, bytes, outline)) return null
    if (index === 0) deletions = bytes.subarray(outline.structsEnd)
  }
  const clocks = new Map([...runs].map(([client, { to }]) => [client, to]))
  const [only] = updates
  const bytes = only !== undefined && updates.length === 1 ? only : writeUpdate(runs, deletions)
  const structs = [...runs.values()].reduce((sum, run) => sum + run.structs, 0)
  return { clocks, bytes, structsEnd: bytes.length - deletions.length, structs }
}

const noDeletions = Uint8Array.of(0)

/** Null for bytes that are no update, and for additions that delete, or that no client may send: Yjs may take them. */
function outlineOf(bytes: Uint8Array, as: 'whole' | 'addition'): Outline | null {
  try {
    if (as === 'whole') return readOutline(bytes)
    const summary = readUpdate(bytes, anyContent)
    return summary.deletes > 0 ? null : summary
  } catch (error) {
    if (error instanceof MalformedUpdateError) return null
    throw error
  }
}

/** False where an update does not go on where the ones before it end. */
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
 * An update of runs and of encoded deletions. Clients come in the order in which Yjs writes them, which it relies on
 * where it merges.
 */
export function writeUpdate(runs: ReadonlyMap<number, StructRun>, deletions: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [numbers(runs.size)]
  for (const [client, { structs, from, parts: structBytes }] of [...runs].sort(([a], [b]) => b - a))
    parts.push(numbers(structs, client, from), ...structBytes)
  return Buffer.concat([...parts, deletions])
}

/** Of an update: how many clients have deletions, and where in the bytes the first of them starts. */
export function deletionsIn(bytes: Uint8Array, structsEnd: number): { clients: number; start: number } {
  const reader = new ByteReader(bytes)
  reader.skip(structsEnd)
  return { clients: reader.varUint(), start: reader.at }
}

function numbers(...values: readonly number[]): Uint8Array {
  const bytes: number[] = []
  for (const value of values) pushVarUint(bytes, value)
  return Uint8Array.from(bytes)
}
