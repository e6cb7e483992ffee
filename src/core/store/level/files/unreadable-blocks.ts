import { open } from 'node:fs/promises'
import type { DamagedBlock } from './table-check.ts'

/**
 * Bit that is not set in any compression type of LevelDB. If it is set, LevelDB rejects the block and does
 * not read it.
 */
const unreadableBit = 128
/** Compression types that LevelDB reads: uncompressed and Snappy. */
const kindsRead = [0, 1]

/** Returns the blocks that LevelDB would read although they are damaged. */
export const readableBlocks = (blocks: readonly DamagedBlock[]): readonly DamagedBlock[] =>
  blocks.filter(({ kind }) => kindsRead.includes(kind))

/**
 * Changes one byte of each damaged block of the table at `path`, so that LevelDB rejects the block. Without
 * this change, LevelDB would accept the damaged content, or end the process. The original byte can be
 * computed from the changed byte.
 */
export async function makeUnreadable(path: string, blocks: readonly DamagedBlock[]): Promise<void> {
  const file = await open(path, 'r+')
  try {
    for (const { kind, kindAt } of blocks) await file.write(Buffer.of(kind | unreadableBit), 0, 1, kindAt)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Describes the changed bytes for the operator. Returns '' if no byte was changed. */
export function unreadableBlocksNote(blocks: readonly DamagedBlock[]): string {
  const changed = blocks
    .map(({ kind, kindAt }) => ({ kindAt, was: kind & ~unreadableBit }))
    .filter(({ was }) => kindsRead.includes(was))
  if (changed.length === 0) return ''
  const bytes = changed.map(
    ({ kindAt, was }) => `byte ${kindAt} was changed from ${was} to ${was | unreadableBit}`,
  )
  return `; so that LevelDB refuses the damaged blocks, ${bytes.join(', ')}`
}
