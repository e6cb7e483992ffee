import { ApiError } from '../../base/errors.ts'
import type { DocumentReading, EncodedContent } from '../../content/read-document.ts'
import type { RootSchema } from '../../content/schemas/content-schema.ts'
import { EncodedJson, isResponseTooLarge } from '../../model/json-pieces.ts'
import type { Version } from '../../model/version.ts'
import { IntegrationTooExpensiveError } from '../../update/integration.ts'
import { emptyUpdate, type PlacedIntegration } from '../document/document-state.ts'
import { loadVersionUpdates } from '../log/load-room.ts'
import type { PooledThread, ThreadPool } from '../threads/thread-pool.ts'
import {
  baseVersionExpired,
  type EditableRoom,
  headConflict,
  presentVersion,
  waitUntilDurable,
} from './edit-conditions.ts'

/**
 * Maximum encoded size in bytes of a document that the event loop reads. Reading a larger document takes 50
 * ms or more.
 */
const inlineBytesMax = 65_536
/**
 * Maximum bytes of content that a read on the event loop produces. Content can be much larger than its
 * document, because a document can repeat a large value in many stretches of text.
 */
const inlineOutputMax = 262_144

/**
 * Calls `read` on the event loop. Returns null if reading the document would take too long there. If threads
 * are disabled, all documents are read on the event loop.
 * @param read reads the document and encodes at most `bytesMax` bytes
 * @throws the errors of `read`
 */
export async function readInline<T>(
  readers: ThreadPool,
  sizeBytes: number,
  bytesMax: number,
  read: (bytesMax: number) => Promise<T> | T,
): Promise<T | null> {
  if (!readers.enabled) return read(bytesMax)
  if (sizeBytes > inlineBytesMax) return null
  try {
    return await read(Math.min(inlineOutputMax, bytesMax))
  } catch (error) {
    if (bytesMax > inlineOutputMax && isResponseTooLarge(error)) return null
    if (error instanceof IntegrationTooExpensiveError) return null
    throw error
  }
}

/** Reads one root of a whole state (V1) on a thread. @throws ApiError as for `readEncoded` and `PooledThread.run` */
export async function readOnThread(
  thread: PooledThread,
  bytes: Uint8Array,
  { contentKey, format, encoding, schemaKind, statistics }: DocumentReading,
  bytesMax: number,
): Promise<EncodedContent> {
  const reading = { contentKey, format, encoding, schemaKind, statistics }
  const { data, ...content } = await thread.run({ is: 'read', updates: [bytes], reading, bytesMax })
  return { ...content, data: new EncodedJson(data.as, data.parts) }
}

/**
 * Returns the updates (V1) that make up the document at a version, for a thread. For the current version, returns
 * the bytes in the room if there are any; otherwise reads the log.
 * @param isPresent true if `version` is the current version
 */
export async function updatesOf(
  room: EditableRoom,
  version: Version,
  isPresent: boolean,
): Promise<readonly Uint8Array[]> {
  const { commits, dependencies, doc, state } = room
  const atHand = isPresent ? state.bytes : null
  if (atHand !== null) return [atHand]
  if (commits.existence !== 'live') return [emptyUpdate]
  await waitUntilDurable(room, null)
  const updates = await loadVersionUpdates(dependencies.log, doc, version)
  if (updates === null) throw isPresent ? gone() : baseVersionExpired()
  return updates
}

const gone = (): ApiError =>
  new ApiError('crdt/document-changed', 'the document was deleted or created again; try again')

/**
 * Maximum number of tries to integrate an update on a thread. A try fails if another holder of the lock changes the
 * document before it ends.
 */
const triesMax = 3

/**
 * Integrates an update (V1) into a copy of the document, on a thread. The document must be locked, because
 * the result is valid only for the current state of the document.
 * @param schema the schema that the result must match; null without one
 * @throws ApiError INVALID_ARGUMENT if it does not match; RESOURCE_EXHAUSTED if the update is too expensive or too
 * many jobs wait for a thread; UNAVAILABLE if the store is unavailable; ABORTED if the document keeps changing
 */
export async function placeOnThread(
  room: EditableRoom,
  update: Uint8Array,
  schema: RootSchema | null = null,
): Promise<PlacedIntegration> {
  const { state, address, dependencies } = room
  // The wait for the disk comes before the use of a thread, so that a slow disk does not occupy the thread.
  if (state.bytes === null) await waitUntilDurable(room, null)
  return dependencies.threads.use(address, async (thread) => {
    for (let tries = 1; ; tries += 1) {
      const { revision } = state
      // The updates are read only when a thread is free, so that waiting jobs keep no copies of the document.
      const updates = await updatesOf(room, presentVersion(room), true)
      const placed = await thread.run({ is: 'place', updates, update, schema })
      if (state.revision === revision) return placed
      if (tries === triesMax) throw headConflict()
    }
  })
}
