import { ByteReader } from '../../update/byte-reader.ts'
import { MalformedUpdateError } from '../../update/malformed.ts'

/**
 * Types of the segments of a key, in their first byte. A string follows with its length first, a number as four bytes.
 */
const segment = { string: 0, number: 1 } as const

/** Keys of updates are `v1`, the name, `update` and a number. Other keys of y-leveldb have a similar start. */
const version = Buffer.from('v1')

/** Prefix of all keys of documents. */
export const updatePrefix = Buffer.from([segment.string, version.length, ...version, segment.string])
/** First key after those of documents. */
export const prefixEnd = Buffer.from([segment.string, version.length, ...version, segment.number])

/** Returns the document name of an update's key; null if the key is not that of an update. */
export function updateKeyOf(key: Uint8Array): string | null {
  try {
    const reader = new ByteReader(key)
    reader.skip(updatePrefix.length)
    const name = stringAt(reader, key)
    if (reader.byte() !== segment.string || stringAt(reader, key) !== 'update') return null
    return reader.byte() === segment.number && reader.left === 4 ? name : null
  } catch (error) {
    if (error instanceof MalformedUpdateError) return null
    throw error
  }
}

function stringAt(reader: ByteReader, key: Uint8Array): string {
  const length = reader.varUint()
  const start = reader.at
  reader.skip(length)
  return Buffer.from(key.buffer, key.byteOffset + start, length).toString()
}
