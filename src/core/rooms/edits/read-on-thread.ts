import type { ComparedBranch } from '../../content/branches/branch-hunks.ts'
import type { AnchorAnswers, AnchorQueries } from '../../content/edit/anchors.ts'
import type { DocumentReading, EncodedContent } from '../../content/read-document.ts'
import type { AnsweredText, TextQuery } from '../../content/reading/text-query.ts'
import type { NamedSchema } from '../../content/schemas/content-schema.ts'
import type { FoundStreamPlace, StreamPlaceRequest } from '../../content/stream/stream-place.ts'
import { EncodedJson, isResponseTooLarge } from '../../model/json-pieces.ts'
import { IntegrationTooExpensiveError } from '../../update/integration.ts'
import type { PooledThread, ThreadPool } from '../threads/thread-pool.ts'

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

/**
 * Reads one root of a whole state (V1) on a thread. @throws ApiError as for `readEncoded` and
 * `PooledThread.run`
 */
export async function readOnThread(
  thread: PooledThread,
  bytes: Uint8Array,
  { contentKey, format, encoding, schemaKind, statistics }: DocumentReading,
  bytesMax: number,
): Promise<EncodedContent> {
  const reading = { contentKey, format, encoding, schemaKind, statistics }
  const outcome = await thread.run({ is: 'read', updates: [bytes], reading, bytesMax })
  if (outcome.is !== 'read')
    throw new TypeError(`the thread returned an unexpected result for a document: ${outcome.is}`)
  const { content, data } = outcome
  return { ...content, data: new EncodedJson(data.as, data.parts) }
}

/** Looks up anchors in a whole state (V1) on a thread. @throws ApiError as for `PooledThread.run` */
export async function lookUpOnThread(
  thread: PooledThread,
  bytes: Uint8Array,
  queries: AnchorQueries,
): Promise<AnchorAnswers> {
  const outcome = await thread.run({ is: 'anchors', updates: [bytes], queries })
  if (outcome.is !== 'anchors')
    throw new TypeError(`the thread returned an unexpected result for anchors: ${outcome.is}`)
  return outcome.answers
}

/**
 * Finds the place of a stream in a whole state (V1) on a thread.
 * @throws ApiError as for `findStreamPlace` and `PooledThread.run`
 */
export async function findPlaceOnThread(
  thread: PooledThread,
  bytes: Uint8Array,
  request: StreamPlaceRequest,
  schema: NamedSchema | null,
): Promise<FoundStreamPlace> {
  const outcome = await thread.run({ is: 'streamPlace', updates: [bytes], request, schema })
  if (outcome.is !== 'streamPlace')
    throw new TypeError(`the thread returned an unexpected result for a stream: ${outcome.is}`)
  return outcome.found
}

/**
 * Compares a branch with its main editor on a thread.
 * @param main @param branch whole states (V1)
 * @throws ApiError as for `PooledThread.run`
 */
export async function compareOnThread(
  thread: PooledThread,
  main: Uint8Array,
  branch: Uint8Array,
): Promise<ComparedBranch> {
  const outcome = await thread.run({ is: 'compare', updates: [new Uint8Array(main), new Uint8Array(branch)] })
  if (outcome.is !== 'compared')
    throw new TypeError(`the thread returned an unexpected result for a branch: ${outcome.is}`)
  return outcome.compared
}

/**
 * Answers a query about a large response of `/v2/crdt/get` on a thread; see `answerTextQuery`.
 * @throws ApiError as for `PooledThread.run`
 */
export async function answerOnThread(
  thread: PooledThread,
  json: Uint8Array,
  query: TextQuery,
  charactersMax: number,
): Promise<AnsweredText | 'too long' | null> {
  const outcome = await thread.run({ is: 'text', json, query, charactersMax })
  if (outcome.is !== 'text')
    throw new TypeError(`the thread returned an unexpected result for a text: ${outcome.is}`)
  return outcome.answered
}
