import { crc32 } from 'node:zlib'
import { asBuffer } from '../../../core/base/bytes.ts'
import { MalformedJsonError, readJson } from '../../../core/base/json.ts'
import * as s from '../../../core/base/schema.ts'
import type { StoredPage } from '../../../core/store/engine.ts'
import { StorageError } from './storage-error.ts'

/**
 * A part of a backup file. The file consists of a magic line and several parts. A part consists of its kind
 * (1 byte), its length (4 bytes), a CRC-32 (4 bytes) and its content. Each CRC continues the CRC of the
 * previous part, so a changed, missing or misplaced part is detected. The last part contains the number of
 * pairs, so a truncated file is detected. Numbers are big endian.
 */
export type BackupPart =
  | { readonly kind: 'header'; readonly header: BackupHeader }
  /** A small file of the data directory that is not in the store. */
  | { readonly kind: 'file'; readonly name: string; readonly bytes: Uint8Array }
  | { readonly kind: 'pairs'; readonly pairs: StoredPage }
  | { readonly kind: 'end'; readonly pairs: number }

export const backupHeaderSchema = s.object(
  {
    /** Format number of the store from which the pairs were read. */
    format: s.number,
    /** Time at which the backup was made, in epoch milliseconds. */
    madeAt: s.number,
  },
  {
    /** Ids of the first workspaces, by which the store is recognized; missing in backups of earlier versions. */
    workspaces: s.array(s.string),
  },
)
export type BackupHeader = s.TypeOf<typeof backupHeaderSchema>

const magic = Buffer.from('weft-backup 1\n')
const kinds = ['header', 'file', 'pairs', 'end'] as const
const headBytes = 9
/** Maximum length of a part, in bytes. A part contains one page of pairs, or a single large pair. */
const partBytesMax = 2 ** 30

export class BackupWriter {
  #crc = 0
  #pairs = 0

  /** Returns the bytes of the next part. The first part is the header. */
  part(part: BackupPart): Buffer {
    if (part.kind === 'header')
      return Buffer.concat([magic, this.#part('header', Buffer.from(JSON.stringify(part.header)))])
    if (part.kind === 'file') {
      const encoded = Buffer.from(part.name)
      return this.#part('file', Buffer.concat([lengthOf(encoded), encoded, part.bytes]))
    }
    if (part.kind === 'end') return this.#part('end', Buffer.from(JSON.stringify({ pairs: this.#pairs })))
    this.#pairs += part.pairs.length
    return this.#part('pairs', encodePairs(part.pairs))
  }

  #part(kind: BackupPart['kind'], bytes: Buffer): Buffer {
    const head = Buffer.alloc(headBytes)
    head[0] = kinds.indexOf(kind)
    head.writeUInt32BE(bytes.length, 1)
    this.#crc = crc32(bytes, crc32(head.subarray(0, 5), this.#crc))
    head.writeUInt32BE(this.#crc, 5)
    return Buffer.concat([head, bytes])
  }
}

/**
 * Yields the parts of a backup, including its end part.
 * @throws StorageError if the file is not a backup, or if it is damaged or incomplete
 */
export async function* readBackupParts(source: AsyncIterable<Uint8Array>): AsyncGenerator<BackupPart> {
  const chunks = source[Symbol.asyncIterator]()
  try {
    yield* checkedParts(new ByteQueue(chunks))
  } finally {
    // Closes the source even if the backup is damaged.
    await chunks.return?.()
  }
}

async function* checkedParts(bytes: ByteQueue): AsyncGenerator<BackupPart> {
  if (!(await bytes.take(magic.length))?.equals(magic))
    throw new StorageError('the file is not a backup of this version of Weft')
  let crc = 0
  let pairs = 0
  for (;;) {
    const at = bytes.taken
    const head = await bytes.take(headBytes)
    if (head === null) throw new StorageError(`the backup is not complete: it ends at byte ${at}`)
    const length = head.readUInt32BE(1)
    const part = length > partBytesMax ? null : await bytes.take(length)
    if (part === null) throw new StorageError(`the backup is damaged or not complete at byte ${at}`)
    crc = crc32(part, crc32(head.subarray(0, 5), crc))
    const kind = kinds[head[0] as number]
    if (crc !== head.readUInt32BE(5) || kind === undefined)
      throw new StorageError(`the backup is damaged at byte ${at}: a checksum is wrong`)
    const decoded = decodePart(kind, part)
    if (decoded.kind === 'pairs') pairs += decoded.pairs.length
    const isLast = decoded.kind === 'end'
    if (isLast && decoded.pairs !== pairs) throw wrongFooter()
    yield decoded
    if (!isLast) continue
    // Read only when the reader has processed the last part, because a source may note that it was read.
    if ((await bytes.take(1)) !== null) throw wrongFooter()
    return
  }
}

const wrongFooter = (): StorageError =>
  new StorageError('the backup is damaged: its footer does not match its content')

const endSchema = s.object({ pairs: s.number })

/**
 * Parses and checks the JSON of a part. The check is necessary even if the checksum is correct, because a
 * correct checksum does not prove that Weft wrote the part.
 * @throws StorageError if the JSON is malformed
 */
function readMembers<T>(schema: s.SchemaOf<T>, part: Buffer): T {
  try {
    return readJson(schema, part)
  } catch (cause) {
    if (!(cause instanceof MalformedJsonError)) throw cause
    throw new StorageError(`the backup is damaged: ${cause.message}`, { cause })
  }
}

/** Decodes a part whose checksum is correct. */
function decodePart(kind: BackupPart['kind'], part: Buffer): BackupPart {
  if (kind === 'header') return { kind, header: readMembers(backupHeaderSchema, part) }
  if (kind === 'end') return { kind, pairs: readMembers(endSchema, part).pairs }
  if (kind === 'pairs') return { kind, pairs: decodePairs(part) }
  const start = 4 + part.readUInt32BE(0)
  return { kind, name: part.toString('utf8', 4, start), bytes: part.subarray(start) }
}

/** Encodes pairs: for each one the lengths of key and value (4 bytes each), the key and the value. */
export function encodePairs(pairs: StoredPage): Buffer<ArrayBuffer> {
  let length = 0
  for (const [key, value] of pairs) length += 8 + key.length + value.length
  const bytes = Buffer.allocUnsafeSlow(length)
  let at = 0
  for (const [key, value] of pairs) {
    bytes.writeUInt32BE(key.length, at)
    bytes.writeUInt32BE(value.length, at + 4)
    bytes.set(key, at + 8)
    bytes.set(value, at + 8 + key.length)
    at += 8 + key.length + value.length
  }
  return bytes
}

/** Decodes pairs from bytes whose integrity the caller has checked. */
export const decodePairs = (part: Buffer): StoredPage => [...pairsIn(part)]

/** Yields the pairs of bytes whose integrity the caller has checked. */
export function* pairsIn(part: Buffer): Generator<StoredPage[number]> {
  for (let at = 0; at < part.length; ) {
    const value = at + 8 + part.readUInt32BE(at)
    const end = value + part.readUInt32BE(at + 4)
    yield [part.subarray(at + 8, value), part.subarray(value, end)]
    at = end
  }
}

function lengthOf(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return length
}

/** Splits chunks of any size into pieces of exactly the requested number of bytes. */
class ByteQueue {
  taken = 0
  readonly #source: AsyncIterator<Uint8Array>
  #chunks: Uint8Array[] = []
  #length = 0

  constructor(source: AsyncIterator<Uint8Array>) {
    this.#source = source
  }

  /** Returns the next `count` bytes; null if fewer bytes remain. */
  async take(count: number): Promise<Buffer | null> {
    while (this.#length < count) {
      const next = await this.#source.next()
      if (next.done === true) return null
      this.#chunks.push(next.value)
      this.#length += next.value.length
    }
    const all =
      this.#chunks.length === 1 ? asBuffer(this.#chunks[0] as Uint8Array) : Buffer.concat(this.#chunks)
    this.#chunks = [all.subarray(count)]
    this.#length -= count
    this.taken += count
    return all.subarray(0, count)
  }
}
