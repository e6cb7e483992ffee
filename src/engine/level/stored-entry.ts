import { decodeKey, decodeKeyPair } from '../keys.ts'
import type { StoredEntry } from '../stored-entry.ts'
import { decodeJob } from './job-records.ts'
import { decodeHead, unseal } from './records.ts'
import { spaces } from './spaces.ts'

type Decode = (key: Buffer, value: Buffer) => StoredEntry

/** By the first byte of their keys. What else is stored follows from these, or is read with its document. */
const decoders = new Map<number | undefined, Decode>([
  [spaces.heads[0], readHead],
  [spaces.kv[0], readValue],
  [
    spaces.blobs[0],
    (key, value) => ({ is: 'blob', key: decodeKey(key.subarray(1)), value: unseal(key, value) }),
  ],
  [spaces.jobs[0], readJob],
  [spaces.buried[0], readJob],
])

/** What a stored pair says by itself; null: nothing. @throws DamagedRecord, RangeError where it is damaged */
export const storedEntry = (key: Uint8Array, value: Uint8Array): StoredEntry | null =>
  decoders.get(key[0])?.(asBuffer(key), asBuffer(value)) ?? null

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)

function readHead(key: Buffer, value: Buffer): StoredEntry {
  const { state, epoch } = decodeHead(key, value)
  return { is: 'document', key: decodeKey(key.subarray(1)), state, epoch }
}

function readValue(key: Buffer, value: Buffer): StoredEntry {
  const [part, name] = decodeKeyPair(key.subarray(1))
  return { is: 'value', part, key: name, value: unseal(key, value) }
}

/** A job that is leased is due when its lease ends. */
function readJob(key: Buffer, value: Buffer): StoredEntry {
  const [queue = '', id = ''] = decodeKey(key.subarray(1))
  const { at, payload, error } = decodeJob(key, value)
  return { is: key[0] === spaces.jobs[0] ? 'job' : 'buried', queue, id, at, payload, error }
}
