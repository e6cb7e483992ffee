import * as Y from 'yjs'
import { IntegrationTooExpensiveError } from '../../update/integration.ts'
import { readUpdate } from '../../update/read-update.ts'
import { writeStateVector } from '../../update/state-vector.ts'
import { isPlain, isSimple, type UpdateSummary } from '../../update/summary.ts'
import type { DocumentState, PlacedIntegration } from '../document/document-state.ts'
import { DocumentExpensiveError } from '../document/unreadable-documents.ts'
import type { Commits } from '../log/commits.ts'
import type { RemoteAppend } from '../log/read-log-since.ts'
import type { AppliedUpdate } from '../updates/broadcast.ts'
import { UpdateApplyError } from '../updates/update-applier.ts'

/**
 * Applies updates that other nodes have appended. Returns the updates to send to the members. An update is
 * returned unchanged, because the updates on which it depends precede it in the log and were sent before.
 * From a snapshot, only the part that the members lack is returned.
 * @param placed the result of a thread that has integrated the only update in `foreign`; null if the event
 * loop integrates the updates
 * @throws UpdateApplyError; DocumentExpensiveError if the updates are too expensive for the event loop
 */
export function applyRemote(
  state: DocumentState,
  foreign: readonly RemoteAppend[],
  {
    commits,
    placed,
  }: { readonly commits: Pick<Commits, 'broadcastClocks'>; readonly placed: PlacedIntegration | null },
): readonly AppliedUpdate[] {
  try {
    return foreign.map(({ is, update: { bytes, by } }) => {
      const sent = is === 'update' ? bytes : lackedIn(bytes, commits.broadcastClocks(state.clocks))
      const summary = readUpdate(sent)
      if (placed === null) apply(state, sent, summary)
      else applyPlaced(state, placed)
      return { bytes: sent, by, from: null, summary }
    })
  } catch (cause) {
    if (cause instanceof DocumentExpensiveError) throw cause
    if (cause instanceof IntegrationTooExpensiveError) throw new DocumentExpensiveError(cause)
    throw new UpdateApplyError('the updates of another node could not be applied', { cause })
  }
}

const lackedIn = (snapshot: Uint8Array, reached: ReadonlyMap<number, number>): Uint8Array =>
  Y.diffUpdate(snapshot, writeStateVector(reached))

const missing = 'it depends on updates that are missing'

/**
 * Applies one update. This node may already have parts of the update, because a client that changes nodes
 * sends updates again that may be lost.
 */
function apply(state: DocumentState, bytes: Uint8Array, summary: UpdateSummary): void {
  if (isPlain(summary, state.clocks)) {
    state.advance(summary)
    if (isSimple(summary)) state.applyLater([{ bytes, summary }])
    else state.applyPlain([{ bytes }])
    return
  }
  const { added, gap } = state.integrate(bytes)
  if (added !== null) state.advance(readUpdate(added))
  if (gap) throw new Error(missing)
}

function applyPlaced(state: DocumentState, placed: PlacedIntegration): void {
  const { added, gap, problem } = placed
  if (gap || problem !== null) throw new Error(problem ?? missing)
  if (added === null) return
  state.takePlaced(added, placed)
  state.advance(readUpdate(added))
}
