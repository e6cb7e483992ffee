import type { ReadContent, Reading } from '../content/reading.ts'
import type { Threads } from './threads/pool.ts'

/** Encoded bytes up to which a document is read on the event loop: what is larger could hold it for more than 50 ms. */
const inlineBytesMax = 65_536

export const isReadInline = (readers: Threads, sizeBytes: number): boolean =>
  sizeBytes <= inlineBytesMax || !readers.enabled

/** Reads one root of a whole state (V1). @throws ApiError as `readDocument` does, and as `Threads.use` does */
export const readOnThread = (readers: Threads, bytes: Uint8Array, reading: Reading): Promise<ReadContent> =>
  readers.use(async (thread) => {
    const { contentKey, format, statistics } = reading
    const asked = { contentKey, format, statistics }
    const outcome = await thread.run({ is: 'read', updates: [bytes], reading: asked })
    if (outcome.is !== 'read') throw new TypeError(`a document was ${outcome.is}`)
    return outcome.content
  })
