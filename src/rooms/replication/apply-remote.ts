import * as Y from 'yjs'
import { IntegrationTooExpensiveError } from '../../update/integration.ts'
import { readUpdate } from '../../update/read-update.ts'
import { writeStateVector } from '../../update/state-vector.ts'
import { isPlain, isSimple, type UpdateSummary } from '../../update/summary.ts'
import type { Commits } from '../log/commits.ts'
import type { AppliedUpdate } from '../room/broadcast.ts'
import type { DocumentState, PlacedIntegration } from '../room/document-state.ts'
import { DocumentExpensiveError } from '../room/expensive-documents.ts'
import { UpdateApplyError } from '../room/update-applier.ts'
import type { RemoteAppend } from './read-log-since.ts'

/**
 * Applies what other nodes have appended. Returns what members have to be sent of it: an update as it is, because what
 * it builds on is in the log before it, and so has been sent; of a snapshot what they lack.
 * @param placed the result of a thread for the only update; null: the event loop integrates all
 * @throws UpdateApplyError; DocumentExpensiveError where the event loop cannot
 */
export function applyRemote(
  state: DocumentState,
  foreign: readonly RemoteAppend[],
  {
    commits,
    placed,
  }: { readonly commits: Pick<Commits, 'deliveredClocks'>; readonly placed: PlacedIntegration | null },
): readonly AppliedUpdate[] {
  try {
    return foreign.map(({ is, update: { bytes, by } }) => {
      const sent = is === 'update' ? bytes : lackedIn(bytes, commits.deliveredClocks(state.clocks))
      const summary = readUpdate(sent, { allowSubdocuments: true })
      if (placed === null) apply(state, sent, summary)
      else applyPlaced(state, placed)
      return { bytes: sent, by, from: null, summary }
    })
  } catch (cause) {
    if (cause instanceof DocumentExpensiveError) throw cause
    if (cause instanceof IntegrationTooExpensiveError) throw new DocumentExpensiveError(cause)
    throw new UpdateApplyError('what another node has stored could not be applied', { cause })
  }
}

const lackedIn = (snapshot: Uint8Array, delivered: ReadonlyMap<number, number>): Uint8Array =>
  Y.diffUpdate(snapshot, writeStateVector(delivered))

const missing = 'it builds on something that is not there'

/** What is on its way here may hold parts of it: whoever changes nodes says again what may be lost. */
function apply(state: DocumentState, bytes: Uint8Array, summary: UpdateSummary): void {
  if (isPlain(summary, state.clocks)) {
    state.advance(summary)
    if (isSimple(summary)) state.applyLater([{ bytes, summary }])
    else state.applyPlain([{ bytes }])
    return
  }
  const { added, gap } = state.integrate(bytes)
  if (added !== null) state.advance(readUpdate(added, { allowSubdocuments: true }))
  if (gap) throw new Error(missing)
}

function applyPlaced(state: DocumentState, placed: PlacedIntegration): void {
  const { added, gap, problem } = placed
  if (gap || problem !== null) throw new Error(problem ?? missing)
  if (added === null) return
  state.takePlaced(added, placed)
  state.advance(readUpdate(added, { allowSubdocuments: true }))
}
