import { type FileHandle, open } from 'node:fs/promises'
import { basename } from 'node:path'
import { errorCode, errorMessage } from '../../../base/errors.ts'

/**
 * Position of a block in the file. After the block, the file contains its compression type and its checksum.
 */
interface BlockHandle {
  readonly at: number
  readonly bytes: number
}

const footerBytes = 48
const magicBytes = 8
const magic = Buffer.from('57fb808b247547db', 'hex')
const kindBytes = 1
const trailerBytes = kindBytes + 4
const snappyKind = 1

/** Returns the positions of the metaindex and the index. @throws Error if the bytes are not a footer */
function readFooter(footer: Buffer): { readonly metaindex: BlockHandle; readonly index: BlockHandle } {
  if (!footer.subarray(-magicBytes).equals(magic)) throw new Error('its footer has a wrong magic number')
  const cursor = new ByteCursor(footer.subarray(0, -magicBytes))
  const handles = { metaindex: readHandle(cursor), index: readHandle(cursor) }
  if (cursor.bytes(cursor.left).some((byte) => byte !== 0)) throw new Error('its footer has non-zero padding')
  return handles
}

const readHandle = (cursor: ByteCursor): BlockHandle => ({ at: cursor.varint(), bytes: cursor.varint() })

/**
 * Returns the block positions that are the values of an index block. An entry of a block begins with three
 * numbers: the bytes that its key has in common with the previous key, the further bytes of the key, and the bytes of
 * the value. The further bytes of the key and the value follow. The keys are skipped.
 * @param stored the bytes of the block, followed by its compression type and its checksum
 */
function handlesOf(stored: Buffer): BlockHandle[] {
  const content = stored.subarray(0, -trailerBytes)
  const block = stored.at(-trailerBytes) === snappyKind ? decompressSnappy(content) : content
  const restarts = block.readUInt32LE(block.length - 4)
  const cursor = new ByteCursor(block.subarray(0, block.length - 4 * (restarts + 1)))
  const handles: BlockHandle[] = []
  while (cursor.left > 0) {
    cursor.varint()
    const [keyBytes, valueBytes] = [cursor.varint(), cursor.varint()]
    cursor.bytes(keyBytes)
    handles.push(readHandle(new ByteCursor(cursor.bytes(valueBytes))))
  }
  return handles
}

/** Reads exactly `bytes` bytes. @throws Error if the file is shorter */
async function readAt(file: FileHandle, at: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(bytes), 0, bytes, at)
  if (bytesRead < bytes) throw new Error('it is truncated')
  return buffer
}

/**
 * How thoroughly a table is checked. `structure`: only the parts that a search reads (footer, index,
 * metaindex and filters); these are a few percent of the bytes. `all`: every block.
 */
type TableDepth = 'structure' | 'all'

/** Maximum number of bytes that one call reads. A single larger block is read in one call. */
const stretchBytes = 1024 * 1024

/** A block whose checksum is wrong. */
export interface DamagedBlock {
  /** Description of the damage, without a period at its end. */
  readonly problem: string
  /**
   * Position in the file of the byte that contains the compression type of the block, and the value of that
   * byte (`kind`).
   */
  readonly kindAt: number
  readonly kind: number
}

export interface TableDamage {
  /** Sentence about the damage. It starts with the name of the file. */
  readonly problem: string
  /** The damaged blocks. Empty if only bytes outside of blocks are damaged. */
  readonly blocks: readonly DamagedBlock[]
}

type OnDamage = (block: DamagedBlock) => void

/**
 * Returns the damage of a LevelDB table. Returns null if the table is undamaged, or if there is no such file.
 * A table consists of data blocks, filter blocks, metaindex, index and footer, in this order
 * (doc/table_format.md). By default, LevelDB does not compare checksums when it reads, and `level` has no
 * option for that. If the index or a filter is damaged, LevelDB does not find existing records and treats
 * them as absent. If a key is too short, LevelDB ends the process.
 */
export async function findTableDamage(path: string, depth: TableDepth): Promise<TableDamage | null> {
  const blocks: DamagedBlock[] = []
  let file: FileHandle | null = null
  let problem: string | undefined
  try {
    file = await open(path)
    const { size } = await file.stat()
    await checkBlocks(file, size, depth, (block) => blocks.push(block))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    problem = errorMessage(error)
  } finally {
    await file?.close()
  }
  problem ??= blocks[0]?.problem
  if (problem === undefined) return null
  return { problem: `${basename(path)} is damaged (${problem}): data may be lost`, blocks }
}

async function checkBlocks(
  file: FileHandle,
  size: number,
  depth: TableDepth,
  onDamage: OnDamage,
): Promise<void> {
  const blocksEnd = size - footerBytes
  if (blocksEnd < 0) throw new Error('it is truncated')
  const { metaindex, index } = readFooter(await readAt(file, blocksEnd, footerBytes))
  const read = async (what: string, block: BlockHandle) => {
    if (afterBlock(block) > blocksEnd) throw new Error(`its ${what} is not where it should be`)
    const stored = await readAt(file, block.at, afterBlock(block) - block.at)
    return isSound(what, block, stored, onDamage) ? stored : null
  }
  const list = async (what: string, block: BlockHandle) => {
    const stored = await read(what, block)
    return stored === null ? null : handlesOf(stored)
  }
  const data = await list('index', index)
  if (data !== null && depth === 'all') await checkData(file, data, onDamage)
  const filters = await list('metaindex', metaindex)
  for (const filter of filters ?? []) await read('filter', filter)
  if (data === null || filters === null || depth === 'structure') return
  if (endOf([...data, ...filters, metaindex, index]) !== blocksEnd) throw new Error('its blocks do not join')
}

async function checkData(
  file: FileHandle,
  blocks: readonly BlockHandle[],
  onDamage: OnDamage,
): Promise<void> {
  let start = 0
  let read: Buffer = Buffer.alloc(0)
  for (const block of blocks) {
    if (afterBlock(block) > start + read.length) {
      start = block.at
      const last = blocks.findLast((later) => afterBlock(later) <= start + stretchBytes) ?? block
      read = await readAt(file, start, Math.max(afterBlock(block), afterBlock(last)) - start)
    }
    isSound('data', block, read.subarray(block.at - start, afterBlock(block) - start), onDamage)
  }
}

const afterBlock = ({ at, bytes }: BlockHandle): number => at + bytes + trailerBytes

/**
 * Returns the end of the last block if all blocks are contiguous from the start of the file; otherwise
 * returns NaN.
 */
const endOf = (blocks: readonly BlockHandle[]): number =>
  blocks.reduce((end, block) => (block.at === end ? afterBlock(block) : Number.NaN), 0)

/**
 * Returns whether the checksum of a block is correct. If it is wrong, also calls `onDamage`.
 * @param stored the bytes of the block, followed by its compression type and its checksum
 */
function isSound(what: string, { at, bytes }: BlockHandle, stored: Buffer, onDamage: OnDamage): boolean {
  const checksum = stored.readUInt32LE(bytes + kindBytes)
  if (maskCrc(crc32c(stored.subarray(0, bytes + kindBytes))) === checksum) return true
  const problem = `the checksum of its ${what} at byte ${at} is wrong`
  onDamage({ problem, kindAt: at + bytes, kind: stored.readUInt8(bytes) })
  return false
}

/**
 * Reads bytes and numbers of LevelDB and Snappy data in sequence. Numbers are little endian.
 * @throws RangeError if a read exceeds the end of the data
 */
export class ByteCursor {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  /** Reads a number that is 1 to 4 bytes long. */
  number(bytes: number): number {
    this.#at += bytes
    return this.#bytes.readUIntLE(this.#at - bytes, bytes)
  }

  /**
   * Reads a number of variable length, with seven bits in each byte. The highest bit of a byte states whether
   * another byte follows.
   */
  varint(): number {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = this.number(1)
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
  }

  bytes(count: number): Buffer {
    if (count > this.left) throw new RangeError('past the end')
    this.#at += count
    return this.#bytes.subarray(this.#at - count, this.#at)
  }
}

/**
 * Decompresses a Snappy block as specified in format_description.txt of google/snappy: the length, then
 * elements. An element is either a literal or a copy of earlier output.
 * @throws RangeError if an element exceeds the end
 */
function decompressSnappy(compressed: Buffer): Buffer {
  const input = new ByteCursor(compressed)
  const output = Buffer.alloc(input.varint())
  let end = 0
  while (input.left > 0) {
    const tag = input.number(1)
    if ((tag & 3) === 0) {
      const literal = input.bytes(literalBytes(tag, input))
      output.set(literal, end)
      end += literal.length
    } else {
      const { back, bytes } = copyOf(tag, input)
      // Copies byte by byte, because the source of the copy may overlap with its output.
      for (const stop = end + bytes; end < stop; end++) output[end] = output[end - back] as number
    }
  }
  return output
}

function literalBytes(tag: number, input: ByteCursor): number {
  const short = tag >>> 2
  return 1 + (short < 60 ? short : input.number(short - 59))
}

function copyOf(tag: number, input: ByteCursor): { readonly back: number; readonly bytes: number } {
  if ((tag & 3) === 1) {
    return { bytes: 4 + ((tag >>> 2) & 7), back: ((tag >>> 5) << 8) | input.number(1) }
  }
  return { bytes: 1 + (tag >>> 2), back: input.number((tag & 3) === 2 ? 2 : 4) }
}

/** Castagnoli polynomial, with reversed bits. */
const polynomial = 0x82f63b78

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? polynomial : 0)
  return crc
})

/**
 * Returns the CRC table for bytes that have one more byte after them than the bytes of the table `before`.
 * With these tables, one step of the loop below processes four bytes.
 */
const behind = (before: Uint32Array): Uint32Array =>
  before.map((crc) => (crc >>> 8) ^ (table[crc & 0xff] as number))

const table1 = behind(table)
const table2 = behind(table1)
const table3 = behind(table2)

/**
 * Returns the CRC-32C of the bytes, as defined in RFC 3720 (iSCSI), 12.1, with examples in B.4. The function
 * `crc32` of `node:zlib` uses another polynomial.
 */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff
  let at = 0
  // The loop uses plain indices and four bytes in each step. An iterator or single bytes would take three
  // times as long.
  for (const end = bytes.length & ~3; at < end; at += 4) {
    crc ^=
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24)
    crc =
      (table3[crc & 0xff] as number) ^
      (table2[(crc >>> 8) & 0xff] as number) ^
      (table1[(crc >>> 16) & 0xff] as number) ^
      (table[crc >>> 24] as number)
  }
  for (; at < bytes.length; at++) crc = (crc >>> 8) ^ (table[(crc ^ (bytes[at] as number)) & 0xff] as number)
  return (crc ^ 0xffffffff) >>> 0
}

/**
 * Returns the masked form of a CRC. LevelDB stores this form, because the CRC of bytes that themselves
 * contain CRCs would be weak (util/crc32c.h).
 */
function maskCrc(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0
}
