import { ByteReader } from '../../../core/update/byte-reader.ts'
import { MalformedUpdateError } from '../../../core/update/malformed.ts'

/**
 * Types of key segments. The first byte of a segment is its type. If the segment is a string, its length and
 * its text follow. If it is a number, four bytes follow.
 */
const segment = { string: 0, number: 1 } as const

/**
 * First segment of the key of an update. The whole key consists of `v1`, the name of the document, `update`
 * and a number. Other keys of y-leveldb start in a similar way.
 */
const version = Buffer.from('v1')

/** Prefix that all keys of documents have. */
export const updatePrefix = Buffer.from([segment.string, version.length, ...version, segment.string])
/** First possible key after all keys of documents. */
export const prefixEnd = Buffer.from([segment.string, version.length, ...version, segment.number])

/** Returns the document name in the key of an update; null if it is another kind of key. */
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
