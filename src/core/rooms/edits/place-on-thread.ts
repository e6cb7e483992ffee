import { MalformedJsonError } from '../../base/json.ts'
import type { InitialContent } from '../../content/initial-content.ts'
import type { RootSchema } from '../../content/schemas/content-schema.ts'
import type { DocumentAddress } from '../../model/address.ts'
import type { PlacedIntegration } from '../document/document-state.ts'
import type { PlacedDocument } from '../log/load-room.ts'
import type { ThreadPool } from '../threads/thread-pool.ts'
import { completed, type Done, runThreadTask, type ThreadTask } from '../threads/thread-task.ts'
import { headConflict } from './backend-change.ts'
import { type EditContext, presentVersion, waitUntilDurable } from './edit-context.ts'
import { updatesOf } from './thread-compute.ts'

/**
 * Maximum number of tries to integrate an update on a thread. A try fails if other nodes change the document
 * before it ends.
 */
const triesMax = 3

/**
 * Integrates an update (V1) into a copy of the document, on a thread. The document must be locked, because
 * the result is valid only for the current state of the document.
 * @param schema the schema that the result must match; null without one
 * @throws ApiError INVALID_ARGUMENT if it does not match; RESOURCE_EXHAUSTED if the update is too expensive or too
 * many jobs wait for a thread; UNAVAILABLE if the store is unavailable; ABORTED if other nodes keep changing the
 * document
 */
export async function placeOnThread(
  room: EditContext,
  update: Uint8Array,
  schema: RootSchema | null = null,
): Promise<PlacedIntegration> {
  // The wait for the disk comes before the use of a thread, so that a slow disk does not occupy the thread.
  if (room.state.bytes === null) await waitUntilDurable(room, null)
  return onThread(room.threads, room.address, async (run) => {
    for (let tries = 1; ; tries += 1) {
      const { revision } = room.state
      // The updates are read only when a thread is free, so that waiting jobs keep no copies of the document.
      const updates = await updatesOf(room, presentVersion(room), true)
      const placed = await run({ is: 'place', updates, update, schema, isStored: false })
      if (placed.is !== 'placed')
        throw new TypeError(`the thread returned an unexpected result for an update: ${placed.is}`)
      if (room.state.revision === revision) return placed
      if (tries === triesMax) throw headConflict()
    }
  })
}

/**
 * Integrates an update (V1) that the log has into a copy of a document, on a thread.
 * @param state the whole state (V1) of the document
 * @throws ApiError RESOURCE_EXHAUSTED if too many jobs wait for a thread
 */
export async function placeStateOnThread(
  threads: ThreadPool,
  address: DocumentAddress,
  state: Uint8Array,
  update: Uint8Array,
): Promise<PlacedIntegration> {
  const placed = await onThread(threads, address, (run) =>
    run({ is: 'place', updates: [state], update, schema: null, isStored: true }),
  )
  if (placed.is !== 'placed')
    throw new TypeError(`the thread returned an unexpected result for an update: ${placed.is}`)
  return placed
}

/**
 * Reads a document on a thread.
 * @param updates the content of the document: a snapshot (or an empty update) and the updates after it
 * @throws ApiError RESOURCE_EXHAUSTED if too many jobs wait for a thread
 */
export async function openOnThread(
  threads: ThreadPool,
  address: DocumentAddress,
  updates: readonly Uint8Array[],
): Promise<PlacedDocument> {
  const opened = await onThread(threads, address, (run) => run({ is: 'open', updates }))
  if (opened.is !== 'opened')
    throw new TypeError(`the thread returned an unexpected result for a document: ${opened.is}`)
  return opened
}

/**
 * Splits a whole state (V1) into updates for single ticks of the event loop, on a thread.
 * @throws ApiError RESOURCE_EXHAUSTED if too many jobs wait for a thread
 */
export async function splitOnThread(
  threads: ThreadPool,
  address: DocumentAddress,
  state: Uint8Array,
): Promise<readonly Uint8Array[]> {
  const split = await onThread(threads, address, (run) => run({ is: 'split', updates: [state] }))
  if (split.is !== 'split')
    throw new TypeError(`the thread returned an unexpected result for a state: ${split.is}`)
  return split.parts
}

/**
 * Parses the response of a backend (JSON in UTF-8) on a thread. The data of a target is encoded.
 * @throws MalformedJsonError if the response has the wrong form; ApiError RESOURCE_EXHAUSTED if it takes too long or
 * too many jobs wait for a thread
 */
export async function parseOnThread(
  threads: ThreadPool,
  address: DocumentAddress,
  json: Uint8Array,
): Promise<InitialContent> {
  const parsed = await onThread(threads, address, (run) => run({ is: 'parse', json }))
  if (parsed.is !== 'parsed')
    throw new TypeError(`the thread returned an unexpected result for a response: ${parsed.is}`)
  if (parsed.content === null) throw new MalformedJsonError(parsed.problem)
  return parsed.content
}

/**
 * Calls `work` with a function that runs jobs on a thread. If the operator has disabled threads, this
 * function runs the jobs on the event loop.
 */
const onThread = async <T>(
  threads: ThreadPool,
  address: DocumentAddress,
  work: (run: (job: ThreadTask) => Promise<Done>) => Promise<T>,
): Promise<T> =>
  threads.enabled
    ? threads.use(address, (thread) => work((job) => thread.run(job)))
    : work(async (job) => completed(runThreadTask(job)))
