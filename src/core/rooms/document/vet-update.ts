import { setImmediate as nextTick } from 'node:timers/promises'
import { convertV2Steps } from '../../update/convert-v2.ts'
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
  return bytes.length < largeUpdateBytes
    ? readUpdate(bytes)
    : inSlices(readUpdateSteps(bytes), slices.of(workspaceId))
}

/**
 * Converts an update from the encoding V2 to V1. Returns the result if the first step converts the whole update.
 * Otherwise, the further steps run in slices. A few bytes of V2 can take many steps.
 * @throws MalformedUpdateError
 */
export const convertUpdate = (
  bytes: Uint8Array,
  slices: LoopSlices,
  workspaceId: string,
): Uint8Array | Promise<Uint8Array> => inSlices(convertV2Steps(bytes), slices.of(workspaceId))

function inSlices<T>(steps: Steps<T>, runSlice: RunSlice): T | Promise<T> {
  const first = steps.next()
  // Most large updates have few parts. A pause would keep what the client sends meanwhile in memory.
  return first.done === true ? first.value : furtherSteps(steps, runSlice)
}

async function furtherSteps<T>(steps: Steps<T>, runSlice: RunSlice): Promise<T> {
  // In this tick, the update was already copied and decoded.
  await nextTick()
  for (;;) {
    const step = await runSlice(() => steps.next())
    if (step.done === true) return step.value
  }
}
