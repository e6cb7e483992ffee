import { setImmediate as nextTick } from 'node:timers/promises'
import type { Steps } from '../../update/outline.ts'
import { readUpdate, readUpdateSteps } from '../../update/read-update.ts'
import type { UpdateSummary } from '../../update/summary.ts'
import type { LoopSlices, RunSlice } from './loop-slices.ts'

/** Number of bytes from which an update is read in steps. A smaller one takes at most about 5 ms. */
export const largeUpdateBytes = 65_536

/**
 * Vets an update that a client or a backend has sent. Returns the summary if the update is small, or if the first
 * step reads the whole update. Otherwise, the further steps run in slices, and the result is a promise.
 * @throws MalformedUpdateError
 */
export function vetUpdate(
  bytes: Uint8Array,
  slices: LoopSlices,
  workspaceId: string,
): UpdateSummary | Promise<UpdateSummary> {
  if (bytes.length < largeUpdateBytes) return readUpdate(bytes)
  const steps = readUpdateSteps(bytes)
  const first = steps.next()
  // Most large updates have few parts. A pause would keep what the client sends meanwhile in memory.
  return first.done === true ? first.value : vetFurther(steps, slices.of(workspaceId))
}

async function vetFurther(steps: Steps<UpdateSummary>, runSlice: RunSlice): Promise<UpdateSummary> {
  // In this tick, the update was already copied and decoded.
  await nextTick()
  for (;;) {
    const step = await runSlice(() => steps.next())
    if (step.done === true) return step.value
  }
}
