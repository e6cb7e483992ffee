import { asBuffer } from '../../../base/bytes.ts'
import type { Key } from '../../engine.ts'
import { type ByteRange, decodeKeyPair, encodeKey, keyRange, rangeOf } from '../../key-encoding.ts'
import { keyspaces, logSpaces, under } from '../../pairs/keyspaces.ts'
import { checkChecksum } from '../../pairs/record-codec.ts'
import type { StoredEntry, StoredSelection } from '../../stored-selection.ts'

/**
 * Decodes a stored pair of the Kv. Returns null for a pair of another kind.
 * @throws DamagedRecordError, RangeError if the record is damaged
 */
export function storedEntry(key: Uint8Array, value: Uint8Array): StoredEntry | null {
  if (key[0] !== keyspaces.kv[0]) return null
  const [part, name] = decodeKeyPair(asBuffer(key).subarray(1))
  return { part, key: name, value: checkChecksum(asBuffer(key), asBuffer(value)) }
}

/** Returns the partition of a stored pair of the Kv; null for a pair of another kind. */
export const partOfPair = (key: Uint8Array): Key | null =>
  key[0] === keyspaces.kv[0] ? decodeKeyPair(asBuffer(key).subarray(1))[0] : null

/** Returns the ranges with the pairs of a selection, and with the pairs that describe the store, such as its format. */
export const selectedRanges = ({ logs, blobs, values }: StoredSelection): readonly ByteRange[] => [
  rangeOf(keyspaces.meta),
  ...logSpaces.flatMap((space) => logs.map((prefix) => keyRange(space, { prefix }))),
  ...blobs.map((prefix) => keyRange(keyspaces.blobs, { prefix })),
  ...values.map(({ part, prefix }) => keyRange(under(keyspaces.kv, encodeKey(part)), { prefix })),
]
