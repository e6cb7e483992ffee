import { ByteReader } from '../../update/byte-reader.ts'
import { MalformedUpdateError } from '../../update/malformed.ts'

/** Segments of a key: each a byte that says which, then a string with its length before it, or four bytes of a number. */
const segment = { string: 0, number: 1 } as const

/** Keys of updates are `v1`, the name, `update`, a number; of what else y-leveldb keeps some start likewise. */
const version = Buffer.from('v1')

/** All keys of documents start with it, */
export const updatePrefix = Buffer.from([segment.string, version.length, ...version, segment.string])
/** and come before this one. */
export const prefixEnd = Buffer.from([segment.string, version.length, ...version, segment.number])

/** Name of the document that an update is of; null where the key is of something else. */
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
