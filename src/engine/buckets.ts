/** Into so many parts all documents fall: few enough to be listened to, enough to be spread evenly over any cluster. */
export const bucketCount = 16_384

/** FNV-1a with 32 bits (http://www.isthe.com/chongo/tech/comp/fnv/), over UTF-16 code units, and the finish of MurmurHash3. */
export function hash32(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    hash ^= text.charCodeAt(index)
    hash = Math.imul(hash, 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** The bucket of a document: the same for every node and version of Weft. @param name as `keyName` makes it */
export const bucketOf = (name: string): number => hash32(name) % bucketCount
