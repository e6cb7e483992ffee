import { open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../../errors.ts'
import { mapLimit } from '../../map-limit.ts'
import { ByteCursor } from './byte-cursor.ts'
import { isTable } from './file-manifest.ts'
import { footerBytes, handlesOf, pairsOfBlock, readAt, readFooter, trailerBytes } from './table-blocks.ts'

/** A value, and the sequence number of its write. A deletion has the value null. */
interface StoredWrite {
  readonly sequence: bigint
  readonly value: Buffer | null
}

/**
 * A key in a table is followed by 8 bytes, little endian: the sequence number of the write, shifted by 8 bits,
 * and the kind of the write.
 */
const tagBytes = 8
const putKind = 1
/** A log is a sequence of blocks of this size. A part of a write never extends over a block. */
const logBlockBytes = 32 * 1024
/** Each part of a write starts with its checksum (4 bytes), its length (2 bytes) and its kind (1 byte). */
const logHeaderBytes = 7
const partKinds = { full: 1, first: 2, last: 4 } as const
/** Maximum number of attempts to read the files while a server rewrites them. */
const attemptsMax = 5

/**
 * Reads one record from the files of a LevelDB store. Does not open the store: changes no file, and also reads
 * a store that a server uses. Returns null if there is no such record. The cost is two reads for each table, and
 * all bytes of the logs, which have about the size of the write buffer.
 * @throws Error if a file is damaged
 */
export async function readRecordFromFiles(path: string, key: Buffer): Promise<Buffer | null> {
  for (let attempt = 1; ; attempt++) {
    const names = await dataFileNames(path)
    const found = await mapLimit(names, (name) =>
      isTable(name) ? readTable(join(path, name), key) : readLog(join(path, name), key),
    )
    const newest = found.flat().sort((a, b) => (a.sequence < b.sequence ? 1 : -1))[0]
    if (newest !== undefined) return newest.value
    // A server may have moved the record to a new file after the names were read.
    const isSame = (await dataFileNames(path)).join() === names.join()
    if (isSame || attempt === attemptsMax) return null
  }
}

const dataFileNames = async (path: string): Promise<readonly string[]> =>
  (await readdir(path)).filter((name) => isTable(name) || name.endsWith('.log')).sort()

const isMissing = (error: unknown): boolean => errorCode(error) === 'ENOENT'

async function readTable(path: string, key: Buffer): Promise<readonly StoredWrite[]> {
  const file = await open(path).catch((error: unknown) => {
    if (isMissing(error)) return null
    throw error
  })
  if (file === null) return []
  try {
    const { size } = await file.stat()
    // A table that is being written has no footer yet. Its records are also in another file.
    if (size < footerBytes) return []
    const { index } = readFooter(await readAt(file, size - footerBytes, footerBytes))
    const stored = await readAt(file, index.at, index.bytes + trailerBytes)
    // The key of an index entry is at least the last key of its block.
    const position = [...pairsOfBlock(stored)].findIndex(([last]) => userKey(last).compare(key) >= 0)
    // Writes of one key may continue in the next block.
    const blocks = position === -1 ? [] : handlesOf(stored).slice(position, position + 2)
    const found: StoredWrite[] = []
    for (const { at, bytes } of blocks) {
      for (const [tagged, value] of pairsOfBlock(await readAt(file, at, bytes + trailerBytes))) {
        if (!userKey(tagged).equals(key)) continue
        const tag = tagged.readBigUInt64LE(tagged.length - tagBytes)
        found.push({ sequence: tag >> 8n, value: (tag & 255n) === BigInt(putKind) ? value : null })
      }
    }
    return found
  } finally {
    await file.close()
  }
}

const userKey = (tagged: Buffer): Buffer => tagged.subarray(0, -tagBytes)

async function readLog(path: string, key: Buffer): Promise<readonly StoredWrite[]> {
  const bytes = await readFile(path).catch((error: unknown) => {
    if (isMissing(error)) return Buffer.alloc(0)
    throw error
  })
  return [...batchesOfLog(bytes)].flatMap((batch) => writesOf(batch, key))
}

/** Yields the complete batches of a log. A server may be writing the last one. */
function* batchesOfLog(log: Buffer): Generator<Buffer> {
  let parts: Buffer[] = []
  for (let at = 0; at + logHeaderBytes <= log.length; ) {
    const left = logBlockBytes - (at % logBlockBytes)
    if (left < logHeaderBytes) {
      at += left
      continue
    }
    const [length, kind] = [log.readUInt16LE(at + 4), log.readUInt8(at + 6)]
    const start = at + logHeaderBytes
    if (kind === 0 || start + length > log.length) return
    if (kind === partKinds.full || kind === partKinds.first) parts = []
    parts.push(log.subarray(start, start + length))
    if (kind === partKinds.full || kind === partKinds.last) yield Buffer.concat(parts)
    at = start + length
  }
}

/** Size of the header of a batch: the sequence number of its first write, and the number of writes. */
const batchHeaderBytes = 12

/** Returns the writes of a key in a batch: the kind, the key, and for a put also the value. */
function writesOf(batch: Buffer, key: Buffer): readonly StoredWrite[] {
  let sequence = batch.readBigUInt64LE(0)
  const cursor = new ByteCursor(batch.subarray(batchHeaderBytes))
  const found: StoredWrite[] = []
  for (; cursor.left > 0; sequence += 1n) {
    const kind = cursor.number(1)
    const written = cursor.bytes(cursor.varint())
    const value = kind === putKind ? cursor.bytes(cursor.varint()) : null
    if (written.equals(key)) found.push({ sequence, value })
  }
  return found
}
