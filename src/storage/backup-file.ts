import { crc32 } from 'node:zlib'
import * as v from 'valibot'
import type { StoredPage } from '../engine/engine.ts'
import { MalformedJsonError, readJson } from '../json.ts'
import { StorageError } from './storage-error.ts'

/**
 * A part of a backup file. The file has a magic line and then parts. Each part has its kind (1 byte), its
 * length (4 bytes), a CRC-32 (4 bytes) and its content. Each CRC continues the CRC of the previous part, so
 * that a changed, missing or misplaced part is detected. The last part contains the number of pairs, so that
 * a truncated file is detected. Numbers are big endian.
 */
export type BackupPart =
  | { readonly kind: 'header'; readonly header: BackupHeader }
  /** A small file of the data directory that is not part of the store. */
  | { readonly kind: 'file'; readonly name: string; readonly bytes: Uint8Array }
  | { readonly kind: 'pairs'; readonly pairs: StoredPage }
  | { readonly kind: 'end'; readonly pairs: number }

export interface BackupHeader {
  /** Format number of the store that the pairs come from. */
  readonly format: number
  /** Epoch milliseconds when the backup was made. */
  readonly madeAt: number
}

const magic = Buffer.from('weft-backup 1\n')
const kinds = ['header', 'file', 'pairs', 'end'] as const
const headBytes = 9
/** Maximum length of a part in bytes. A part contains a page of pairs or one large pair. */
const partBytesMax = 2 ** 30

/** Encodes the parts of a backup in order. */
export class BackupWriter {
  #crc = 0
  #pairs = 0

  /** Returns the magic line and the header. */
  start(header: BackupHeader): Buffer {
    return Buffer.concat([magic, this.#part('header', Buffer.from(JSON.stringify(header)))])
  }

  file(name: string, bytes: Uint8Array): Buffer {
    const encoded = Buffer.from(name)
    return this.#part('file', Buffer.concat([lengthOf(encoded), encoded, bytes]))
  }

  pairs(pairs: StoredPage): Buffer {
    this.#pairs += pairs.length
    const bytes = pairs.flatMap(([key, value]) => [lengthOf(key), lengthOf(value), key, value])
    return this.#part('pairs', Buffer.concat(bytes))
  }

  end(): Buffer {
    return this.#part('end', Buffer.from(JSON.stringify({ pairs: this.#pairs })))
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
 * Reads the parts of a backup, up to its end part.
 * @throws StorageError if the file is not a backup, is damaged or is incomplete
 */
export async function* readBackupParts(source: AsyncIterable<Uint8Array>): AsyncGenerator<BackupPart> {
  const chunks = source[Symbol.asyncIterator]()
  try {
    yield* checkedParts(new ByteQueue(chunks))
  } finally {
    // Closes the file even if the backup is damaged.
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
    if (decoded.kind === 'end' && (decoded.pairs !== pairs || (await bytes.take(1)) !== null))
      throw new StorageError('the backup is damaged: its footer does not match its content')
    yield decoded
    if (decoded.kind === 'end') return
  }
}

const headerSchema = v.looseObject({ format: v.number(), madeAt: v.number() })
const endSchema = v.looseObject({ pairs: v.number() })

/**
 * Reads the JSON of a part. The check is necessary because a matching checksum does not prove that Weft wrote
 * the part.
 * @throws StorageError if the JSON is malformed
 */
function readMembers<T>(schema: v.GenericSchema<T, unknown>, part: Buffer): T {
  try {
    return readJson(schema, part)
  } catch (cause) {
    if (!(cause instanceof MalformedJsonError)) throw cause
    throw new StorageError(`the backup is damaged: ${cause.message}`, { cause })
  }
}

/** Decodes a part whose checksum is correct. */
function decodePart(kind: BackupPart['kind'], part: Buffer): BackupPart {
  if (kind === 'header') return { kind, header: readMembers(headerSchema, part) }
  if (kind === 'end') return { kind, pairs: readMembers(endSchema, part).pairs }
  if (kind === 'pairs') return { kind, pairs: decodePairs(part) }
  const start = 4 + part.readUInt32BE(0)
  return { kind, name: part.toString('utf8', 4, start), bytes: part.subarray(start) }
}

function decodePairs(part: Buffer): StoredPage {
  const pairs: [Buffer, Buffer][] = []
  for (let at = 0; at < part.length; ) {
    const value = at + 8 + part.readUInt32BE(at)
    const end = value + part.readUInt32BE(at + 4)
    pairs.push([part.subarray(at + 8, value), part.subarray(value, end)])
    at = end
  }
  return pairs
}

function lengthOf(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return length
}

/** Returns exact numbers of bytes from chunks of any size. */
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

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
