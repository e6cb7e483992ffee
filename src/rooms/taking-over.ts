import * as Y from 'yjs'
import { readUpdate } from '../update/read.ts'
import { isPlain, isSimple, type UpdateSummary } from '../update/summary.ts'
import { writeStateVector } from '../update/vector.ts'
import type { Foreign } from './catching-up.ts'
import type { Commits } from './commits.ts'
import type { RoomUpdate } from './delivery.ts'
import { BrokenDocument } from './intake.ts'
import type { RoomState } from './state.ts'

/**
 * Applies what other nodes have appended. Returns what members have to be sent of it: an update as it is, because what
 * it builds on is in the log before it, and so has been sent; of a snapshot what they lack.
 * @throws BrokenDocument
 */
export function takeOver(
  state: RoomState,
  foreign: readonly Foreign[],
  commits: Pick<Commits, 'deliveredClocks'>,
): readonly RoomUpdate[] {
  try {
    return foreign.map(({ is, update: { bytes, by } }) => {
      const sent = is === 'update' ? bytes : lackedIn(bytes, commits.deliveredClocks(state.clocks))
      const summary = readUpdate(sent, { allowSubdocuments: true })
      apply(state, sent, summary)
      return { bytes: sent, by, from: null, summary }
    })
  } catch (cause) {
    throw new BrokenDocument('what another node has stored could not be applied', { cause })
  }
}

const lackedIn = (snapshot: Uint8Array, delivered: ReadonlyMap<number, number>): Uint8Array =>
  Y.diffUpdate(snapshot, writeStateVector(delivered))

/** What is on its way here may hold parts of it: whoever changes nodes says again what may be lost. */
function apply(state: RoomState, bytes: Uint8Array, summary: UpdateSummary): void {
  if (isPlain(summary, state.clocks)) {
    state.advance(summary)
    if (isSimple(summary)) state.applyLater([{ bytes, summary }])
    else state.applyPlain([{ bytes }])
    return
  }
  const { added, gap } = state.integrate(bytes)
  if (added !== null) state.advance(readUpdate(added, { allowSubdocuments: true }))
  if (gap) throw new Error('it builds on something that is not there')
}
