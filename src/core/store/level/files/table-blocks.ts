import type { FileHandle } from 'node:fs/promises'
import { ByteCursor } from './byte-cursor.ts'
import { decompressSnappy } from './snappy.ts'

/**
 * Position of a block in the file. After the block, the file contains its compression type and its checksum.
 */
export interface BlockHandle {
  readonly at: number
  readonly bytes: number
}

export const footerBytes = 48
const magicBytes = 8
const magic = Buffer.from('57fb808b247547db', 'hex')
export const kindBytes = 1
export const trailerBytes = kindBytes + 4
const snappyKind = 1

/** Returns the positions of the metaindex and the index. @throws Error if the bytes are not a footer */
export function readFooter(footer: Buffer): { readonly metaindex: BlockHandle; readonly index: BlockHandle } {
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
export function handlesOf(stored: Buffer): BlockHandle[] {
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
export async function readAt(file: FileHandle, at: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(bytes), 0, bytes, at)
  if (bytesRead < bytes) throw new Error('it is truncated')
  return buffer
}
