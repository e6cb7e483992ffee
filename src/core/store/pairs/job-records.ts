import type { JobRecord } from '../job-state.ts'
import { decodeNumber, encodeNumber } from '../key-encoding.ts'
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
  const { payload, next } = record
  return addChecksum(
    key,
    ...[record.at, record.attempt, next?.at ?? none, lease.length, error.length, payload.length].map(
      encodeNumber,
    ),
    lease,
    error,
    payload,
    next?.payload ?? Buffer.alloc(0),
  )
}

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
