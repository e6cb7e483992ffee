import type { JobRecord } from '../job-state.ts'
import { decodeKey, decodeNumber, encodeKey, encodeKeyAfter, splitKey, writeNumber } from '../key-encoding.ts'
import { keyspaces, under } from './keyspaces.ts'
import { addChecksum, checkChecksum } from './record-codec.ts'

/**
 * Stored instead of the due time of the next job if there is no next job. Layout of a record: due time,
 * attempt, and due time of the next job; the lengths of lease, error and payload; lease, error and payload;
 * the payload of the next job.
 */
const none = Number.MAX_SAFE_INTEGER
const fixedBytes = 48

export function encodeJob(key: Uint8Array, record: JobRecord): Buffer {
  const lease = Buffer.from(record.lease)
  const error = Buffer.from(record.error)
  const { at, attempt, payload, next } = record
  const fixed = Buffer.allocUnsafe(fixedBytes)
  const numbers = [at, attempt, next?.at ?? none, lease.length, error.length, payload.length]
  for (const [index, number] of numbers.entries()) writeNumber(fixed, number, index * 8)
  return addChecksum(key, fixed, lease, error, payload, next?.payload ?? nothing)
}

const nothing = Buffer.alloc(0)

/** Decodes a job. @throws DamagedRecordError */
export function decodeJob(key: Uint8Array, value: Buffer): JobRecord {
  const record = checkChecksum(key, value)
  const numberAt = (index: number): number => decodeNumber(record, index * 8)
  const error = fixedBytes + numberAt(3)
  const payload = error + numberAt(4)
  const next = payload + numberAt(5)
  return {
    at: numberAt(0),
    attempt: numberAt(1),
    lease: record.toString('utf8', fixedBytes, error),
    error: record.toString('utf8', error, payload),
    payload: record.subarray(payload, next),
    next: numberAt(2) === none ? null : { at: numberAt(2), payload: record.subarray(next) },
  }
}

/** Length in bytes of the time in a key. */
export const dueTimeBytes = 8

/**
 * Returns the key of a job in the index of due times.
 * @param space the `dueSpace` of the queue
 */
export function dueKey(space: Buffer, at: number, id: string): Buffer {
  const time = Buffer.allocUnsafe(space.length + dueTimeBytes)
  time.set(space)
  writeNumber(time, at, space.length)
  return encodeKeyAfter(time, [id])
}

/** Returns the prefix of the keys of a queue in the index of due times. */
export const dueSpace = (queue: string): Buffer => under(keyspaces.due, encodeKey([queue]))

/**
 * Returns the queue and the id that a key of the index of due times contains (see `dueKey`).
 * @throws RangeError for any other key
 */
export function readDueKey(key: Buffer): { readonly queue: string; readonly id: string } {
  const [[queue = ''], rest] = splitKey(key.subarray(keyspaces.due.length))
  const [id = ''] = decodeKey(rest.subarray(dueTimeBytes))
  return { queue, id }
}
