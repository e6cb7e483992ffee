import { crc32 } from 'node:zlib'
import type { StoredPage } from '../../core/store/engine.ts'

type StoredPair = StoredPage[number]

/** Sizes of chunks in bytes. A chunk ends, on average, after `minBytes` + `spreadBytes`. */
interface ChunkSizes {
  readonly minBytes: number
  readonly spreadBytes: number
  /** A pair that is larger is a chunk of its own. */
  readonly maxBytes: number
}

const chunkSizes: ChunkSizes = { minBytes: 2 ** 20, spreadBytes: 2 ** 20, maxBytes: 4 * 2 ** 20 }

/**
 * Cuts sorted pairs into chunks at boundaries that depend on the pairs (content-defined chunking): a chunk
 * may end after each pair whose key has a small hash, in proportion to the size of the pair. After a change,
 * the boundaries are soon the same again, so unchanged ranges of keys result in the same chunks.
 */
export async function* cutChunks(
  pages: AsyncIterable<StoredPage>,
  { minBytes, spreadBytes, maxBytes }: ChunkSizes = chunkSizes,
): AsyncGenerator<StoredPage> {
  let chunk: StoredPair[] = []
  let bytes = 0
  for await (const page of pages)
    for (const pair of page) {
      const [key, value] = pair
      const pairBytes = key.length + value.length
      if (bytes > 0 && bytes + pairBytes > maxBytes) {
        yield chunk
        chunk = []
        bytes = 0
      }
      chunk.push(pair)
      bytes += pairBytes
      const endsHere = bytes >= minBytes && hashOf(key) < (pairBytes / spreadBytes) * 2 ** 32
      if (!endsHere && bytes <= maxBytes) continue
      yield chunk
      chunk = []
      bytes = 0
    }
  if (chunk.length > 0) yield chunk
}

/** Returns 32 evenly distributed bits (a CRC, mixed by the finalizer of MurmurHash 3). */
function hashOf(key: Uint8Array): number {
  let hash = crc32(key)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
