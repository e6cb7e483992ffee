import type { DocumentReading, EncodedContent } from '../../content/read-document.ts'
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
