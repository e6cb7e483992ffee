import { setImmediate as nextTick } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { LogEntry, LogUpdate } from '../engine.ts'
import { decodeNumber, encodeNumber, writeNumber } from '../key-encoding.ts'
import type { SnapshotInfo, SnapshotList } from '../log-state.ts'
import { packAuthor, unpackAuthor } from '../stored-author.ts'
import { DamagedRecordError } from '../stored-record.ts'
import { type DocumentKeyspace, keyspaces } from './keyspaces.ts'

/**
 * Size of the header of a value. The header contains a CRC-32 (4 bytes) of the key and the other bytes of the
 * value, and the number of the layout (1 byte).
 */
const headerBytes = 5
const layout = 1

/** Allocates the buffer of a value, with space for the header that `seal` writes. */
const allocate = (bytes: number): Buffer => Buffer.allocUnsafe(headerBytes + bytes)

/**
 * Writes the header of a value. The checksum includes the key, so a record that is stored under a wrong key
 * is detected.
 */
function seal(keyCrc: number, value: Buffer): Buffer {
  value[4] = layout
  value.writeUInt32BE(crc32(value.subarray(4), keyCrc), 0)
  return value
}

/**
 * Verifies the checksum of a value. Returns the bytes of the value without its header.
 * @throws DamagedRecordError
 */
export const checkChecksum = (key: Uint8Array, value: Buffer): Buffer => unsealFrom(crc32(key), value)

/** Returns the part of a value that follows its header, without a check. */
export const withoutChecksum = (value: Buffer): Buffer => value.subarray(headerBytes)

function unsealFrom(keyCrc: number, value: Buffer): Buffer {
  if (value.length < headerBytes) throw new DamagedRecordError('a record is too short')
  if (value.readUInt32BE(0) !== crc32(value.subarray(4), keyCrc)) {
    throw new DamagedRecordError('a checksum is wrong')
  }
  if (value[4] !== layout) throw new DamagedRecordError(`a record has the unknown layout ${value[4]}`)
  return value.subarray(headerBytes)
}

export function addChecksum(key: Uint8Array, ...parts: readonly Uint8Array[]): Buffer {
  const value = allocate(parts.reduce((sum, part) => sum + part.length, 0))
  let at = headerBytes
  for (const part of parts) {
    value.set(part, at)
    at += part.length
  }
  return seal(crc32(key), value)
}

/**
 * Layout of one append. It starts with the first sequence number, the time and the number of updates
 * (together `batchBytes`). Then each update follows: the length of its user id and the length of its bytes
 * (together `updateBytes`), the user id, and the bytes. The user id is packed with the cause of the change.
 */
const batchBytes = 20
const updateBytes = 8
const seqBytes = 8

/**
 * Encodes one append. The key of an append ends with the number of its first update. The record also contains
 * this number, so the checksum does not have to include the end of the key: it starts from `documentCrc`, the
 * checksum of the key without that number. Copies the bytes of the updates.
 */
export function encodeUpdates(
  documentCrc: number,
  first: number,
  at: number,
  updates: readonly LogUpdate[],
): Buffer {
  let size = batchBytes
  for (const update of updates)
    size += updateBytes + Buffer.byteLength(packAuthor(update)) + update.bytes.length
  const value = allocate(size)
  writeNumber(value, first, headerBytes)
  writeNumber(value, at, headerBytes + 8)
  value.writeUInt32BE(updates.length, headerBytes + 16)
  let end = headerBytes + batchBytes
  for (const update of updates) {
    const { bytes } = update
    const userBytes = value.write(packAuthor(update), end + updateBytes)
    value.writeUInt32BE(userBytes, end)
    value.writeUInt32BE(bytes.length, end + 4)
    value.set(bytes, end + updateBytes + userBytes)
    end += updateBytes + userBytes + bytes.length
  }
  return seal(documentCrc, value)
}

/** Decodes one append. @throws DamagedRecordError */
export function decodeUpdates(key: Buffer, value: Buffer): LogEntry[] {
  const numberAt = key.length - seqBytes
  const record = unsealFrom(crc32(key.subarray(0, numberAt)), value)
  const first = decodeNumber(record, 0)
  if (first !== decodeNumber(key, numberAt)) throw new DamagedRecordError('updates are misplaced')
  const at = decodeNumber(record, 8)
  const entries: LogEntry[] = []
  let end = batchBytes
  for (let seq = first; seq < first + record.readUInt32BE(16); seq++) {
    const user = end + updateBytes
    const start = user + record.readUInt32BE(end)
    const bytes = record.subarray(start, start + record.readUInt32BE(end + 4))
    entries.push({ seq, at, ...unpackAuthor(record.toString('utf8', user, start)), bytes })
    end = start + bytes.length
  }
  return entries
}

export interface StoredSnapshot {
  readonly seq: number
  readonly changed: { readonly at: number; readonly by: string }
  readonly bytes: Uint8Array
}

function partsOfSnapshot({ seq, changed, bytes }: StoredSnapshot): readonly Uint8Array[] {
  const user = Buffer.from(changed.by)
  return [encodeNumber(seq), encodeNumber(changed.at), encodeNumber(user.length), user, bytes]
}

export const encodeSnapshot = (key: Uint8Array, snapshot: StoredSnapshot): Buffer =>
  addChecksum(key, ...partsOfSnapshot(snapshot))

/** Bytes of a snapshot that are copied in one tick of the event loop. New memory takes up to 1 ms for a megabyte. */
const copiedPerTick = 1_000_000

/** Like `encodeSnapshot`, but copies a large snapshot in several ticks. It must not change meanwhile. */
export async function encodeSnapshotInTicks(key: Uint8Array, snapshot: StoredSnapshot): Promise<Buffer> {
  const { bytes } = snapshot
  if (bytes.length <= copiedPerTick) return encodeSnapshot(key, snapshot)
  const parts = partsOfSnapshot(snapshot)
  const value = allocate(parts.reduce((sum, part) => sum + part.length, 0))
  value[4] = layout
  let checksum = crc32(value.subarray(4, headerBytes), crc32(key))
  let at = headerBytes
  for (const part of parts)
    for (let start = 0; start < part.length; start += copiedPerTick) {
      if (start > 0) await nextTick()
      const piece = part.subarray(start, start + copiedPerTick)
      value.set(piece, at)
      checksum = crc32(piece, checksum)
      at += piece.length
    }
  value.writeUInt32BE(checksum, 0)
  return value
}

/** Decodes a snapshot. @throws DamagedRecordError */
export function decodeSnapshot(key: Uint8Array, value: Buffer): StoredSnapshot {
  const record = checkChecksum(key, value)
  const start = 24 + decodeNumber(record, 16)
  const changed = { at: decodeNumber(record, 8), by: record.toString('utf8', 24, start) }
  return { seq: decodeNumber(record, 0), changed, bytes: record.subarray(start) }
}

/** State of a document as it is stored: without the head, which follows from the last stored update. */
type EncodedHead =
  | { readonly state: 'deleted'; readonly epoch: number }
  | { readonly state: 'live'; readonly epoch: number; readonly marks: SnapshotList }

const epochBytes = 8
const markBytes = 16

/**
 * Encodes a head record: the epoch, then the sequence number and time of each snapshot. A deleted document
 * has no snapshots.
 */
export function encodeHead(key: Uint8Array, head: EncodedHead): Buffer {
  const marks = head.state === 'live' ? head.marks : []
  return addChecksum(
    key,
    encodeNumber(head.epoch),
    ...marks.flatMap(({ seq, at }) => [encodeNumber(seq), encodeNumber(at)]),
  )
}

/** Decodes a head record. @throws DamagedRecordError */
export function decodeHead(key: Uint8Array, value: Buffer): EncodedHead {
  const record = checkChecksum(key, value)
  const epoch = decodeNumber(record, 0)
  const [anchor, ...later] = decodeMarks(record.subarray(epochBytes))
  return anchor === undefined
    ? { state: 'deleted', epoch }
    : { state: 'live', epoch, marks: [anchor, ...later] }
}

function decodeMarks(record: Buffer): SnapshotInfo[] {
  const marks: SnapshotInfo[] = []
  for (let at = 0; at < record.length; at += markBytes) {
    marks.push({ seq: decodeNumber(record, at), at: decodeNumber(record, at + 8) })
  }
  return marks
}

const noChange = { at: 0, by: '' }

/**
 * Encodes the attribution of the entries up to `base`, in the layout of a snapshot. The record contains `base`,
 * so that a reader detects an attribution that a version without attribution has left.
 */
export const encodeAttributionRecord = (keys: DocumentKeyspace, base: number, bytes: Uint8Array): Buffer =>
  encodeSnapshot(keys.attribution, { seq: base, changed: noChange, bytes })

/**
 * Version number of the layout of keys and records. A LevelDB store and every backup have this layout. A server
 * refuses a store that has a higher number.
 */
export const formatVersion = 2
export const formatKey = Buffer.concat([keyspaces.meta, Buffer.from('format')])

/** Returns the record under `formatKey`, which contains the version number. */
export const encodeFormat = (): Buffer => addChecksum(formatKey, Buffer.of(formatVersion))
