import type { Key } from './engine.ts'
import { keyName } from './key-encoding.ts'

/**
 * Number of buckets. Each document belongs to one bucket. The number is small enough that one statement takes all
 * buckets, and large enough for an even distribution over any cluster.
 */
export const bucketCount = 1_024
/** Number of segments of the key of a document. The key of an editor has more. */
const documentSegments = 4

/**
 * Returns the 32-bit FNV-1a hash (http://www.isthe.com/chongo/tech/comp/fnv/) of the UTF-16 code units of a
 * text, followed by the finalizer of MurmurHash3.
 */
function hash32(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    hash ^= text.charCodeAt(index)
    hash = Math.imul(hash, 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/**
 * Returns the bucket of a document. Every node and every version of Weft computes the same bucket.
 * @param document the key of the document or of one of its editors: all editors have the same bucket
 */
export const bucketOf = (document: Key): number =>
  hash32(keyName(document.length > documentSegments ? document.slice(0, documentSegments) : document)) %
  bucketCount
