import { asBuffer } from '../../../base/bytes.ts'
import type { Key } from '../../engine.ts'
import { type ByteRange, decodeKey, decodeKeyPair, encodeKey, keyRange, rangeOf } from '../../key-encoding.ts'
import { decodeJob } from '../../pairs/job-records.ts'
import { keyspaces, logSpaces, under } from '../../pairs/keyspaces.ts'
import { checkChecksum, decodeHead } from '../../pairs/record-codec.ts'
import type { StoredEntry, StoredSelection } from '../../stored-entry.ts'

type Decode = (key: Buffer, value: Buffer) => StoredEntry

/**
 * Decoders by the first byte of the key. Records of other kinds have no decoder: they can be derived from
 * these records, or are read together with their document.
 */
const decoders = new Map<number | undefined, Decode>([
  [keyspaces.heads[0], readHead],
  [keyspaces.kv[0], readValue],
  [
    keyspaces.blobs[0],
    (key, value) => ({ is: 'blob', key: decodeKey(key.subarray(1)), value: checkChecksum(key, value) }),
  ],
  [keyspaces.jobs[0], readJob],
  [keyspaces.deadLetters[0], readJob],
])

/**
 * Decodes a stored pair. Returns null for a record that is not a `StoredEntry` by itself, such as an update.
 * @throws DamagedRecordError, RangeError if the record is damaged
 */
export const storedEntry = (key: Uint8Array, value: Uint8Array): StoredEntry | null =>
  decoders.get(key[0])?.(asBuffer(key), asBuffer(value)) ?? null

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

function readHead(key: Buffer, value: Buffer): StoredEntry {
  const { state, epoch } = decodeHead(key, value)
  return { is: 'document', key: decodeKey(key.subarray(1)), state, epoch }
}

function readValue(key: Buffer, value: Buffer): StoredEntry {
  const [part, name] = decodeKeyPair(key.subarray(1))
  return { is: 'value', part, key: name, value: checkChecksum(key, value) }
}

/** Decodes a job or a dead letter. If the job is leased, its due time is the end of the lease. */
function readJob(key: Buffer, value: Buffer): StoredEntry {
  const [queue = '', id = ''] = decodeKey(key.subarray(1))
  const { at, payload, error } = decodeJob(key, value)
  return { is: key[0] === keyspaces.jobs[0] ? 'job' : 'buried', queue, id, at, payload, error }
}
