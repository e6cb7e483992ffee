import { createHash } from 'node:crypto'
import { setImmediate as nextTick } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { StoredPage } from '../../core/store/engine.ts'
import { encodePairs, pairsIn } from './storage/backup-file.ts'

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

/** Maximum work of one tick of the event loop. A server answers requests between the ticks. */
const sliceMax = { bytes: 2 ** 19, pairs: 2_000 } as const

/** Splits a page into parts, each for one tick of the event loop. A larger pair is a part of its own. */
function* pageParts(page: StoredPage): Generator<StoredPage> {
  let [start, bytes] = [0, 0]
  for (const [index, [key, value]] of page.entries()) {
    bytes += key.length + value.length
    const end = index + 1
    if (end < page.length && bytes < sliceMax.bytes && end - start < sliceMax.pairs) continue
    yield page.slice(start, end)
    ;[start, bytes] = [end, 0]
  }
}

/** Encodes pairs like `encodePairs`, in slices, each in one tick. */
export async function encodePairsInSlices(page: StoredPage): Promise<Buffer<ArrayBuffer>> {
  const parts: Buffer[] = []
  for (const part of pageParts(page)) {
    parts.push(encodePairs(part))
    await nextTick()
  }
  return Buffer.concat(parts)
}

/** Decodes pairs like `decodePairs`, in slices, each in one tick. */
export async function decodePairsInSlices(content: Buffer): Promise<StoredPage> {
  const pairs: StoredPage[number][] = []
  for (const pair of pairsIn(content)) {
    pairs.push(pair)
    if (pairs.length % sliceMax.pairs === 0) await nextTick()
  }
  return pairs
}

/** SHA-256 over pairs: the lengths (4 bytes each, big endian), key and value of each pair. */
export class PairSum {
  readonly #hash = createHash('sha256')
  pairs = 0

  /** Adds pairs in slices, each in one tick. One call at a time is possible. */
  async add(page: StoredPage): Promise<void> {
    for (const part of pageParts(page)) await this.#addBytes(encodePairs(part))
    this.pairs += page.length
  }

  /** Returns the sum as 64 hexadecimal digits. Nothing can be added afterwards. */
  end(): string {
    return this.#hash.digest('hex')
  }

  async #addBytes(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += sliceMax.bytes) {
      this.#hash.update(bytes.subarray(at, at + sliceMax.bytes))
      await nextTick()
    }
  }
}
