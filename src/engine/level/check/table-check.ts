import { type FileHandle, open } from 'node:fs/promises'
import { basename } from 'node:path'
import { errorMessage } from '../../../errors.ts'
import { ByteCursor } from './byte-cursor.ts'
import { crc32c, maskCrc } from './crc32c.ts'
import { decompressSnappy } from './snappy.ts'

/**
 * How much of a table is looked at: `structure`, what is searched in: footer, index, metaindex and filters, some
 * hundredths of its bytes; `all`, every block.
 */
export type TableDepth = 'structure' | 'all'

/** Where a block is in the file; behind it are its kind of compression and its checksum. */
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
/** Of small blocks so much is read at once. */
const stretchBytes = 1024 * 1024

/** A block whose checksum is wrong. */
export interface DamagedBlock {
  /** A sentence. */
  readonly problem: string
  /** Where the byte is that says how it is compressed, and what it is. */
  readonly kindAt: number
  readonly kind: number
}

export interface TableDamage {
  /** A sentence, which starts with the name of the file. */
  readonly problem: string
  /** May be empty: what is wrong can be elsewhere. */
  readonly blocks: readonly DamagedBlock[]
}

type OnDamage = (block: DamagedBlock) => void

/**
 * What is damaged in a table of LevelDB; null where there is nothing, or no such file. A table is data blocks, filter
 * blocks, metaindex, index and footer, one behind the other (doc/table_format.md). LevelDB compares no checksum when
 * it reads unless it is told to, and `level` cannot tell it: in a changed index or filter it does not find records
 * that are there, and takes them for such as never were; and it ends the process where a key is too short.
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
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
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
  if (blocksEnd < 0) throw new Error('it is cut')
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

/** Where the last block ends when they are one behind the other from the start of the file; NaN when they are not. */
const endOf = (blocks: readonly BlockHandle[]): number =>
  blocks.reduce((end, block) => (block.at === end ? afterBlock(block) : Number.NaN), 0)

function readFooter(footer: Buffer): { readonly metaindex: BlockHandle; readonly index: BlockHandle } {
  if (!footer.subarray(-magicBytes).equals(magic)) throw new Error('its end is none')
  const cursor = new ByteCursor(footer.subarray(0, -magicBytes))
  const handles = { metaindex: readHandle(cursor), index: readHandle(cursor) }
  if (cursor.bytes(cursor.left).some((byte) => byte !== 0)) throw new Error('its end is none')
  return handles
}

const readHandle = (cursor: ByteCursor): BlockHandle => ({ at: cursor.varint(), bytes: cursor.varint() })

/** @param stored the block with what is behind it */
function isSound(what: string, { at, bytes }: BlockHandle, stored: Buffer, onDamage: OnDamage): boolean {
  const checksum = stored.readUInt32LE(bytes + kindBytes)
  if (maskCrc(crc32c(stored.subarray(0, bytes + kindBytes))) === checksum) return true
  const problem = `the checksum of its ${what} at byte ${at} is wrong`
  onDamage({ problem, kindAt: at + bytes, kind: stored.readUInt8(bytes) })
  return false
}

/** The values of the entries of a block that leads to others. Keys are cut where they begin like the one before. */
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

async function readAt(file: FileHandle, at: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(bytes), 0, bytes, at)
  if (bytesRead < bytes) throw new Error('it is cut')
  return buffer
}
