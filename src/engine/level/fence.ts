import { open } from 'node:fs/promises'
import type { DamagedBlock } from './check/table-check.ts'

/** LevelDB knows no kind of compression with this bit: a block of such a kind it refuses, and does not look into. */
const fenceBit = 128
/** As they are, and compressed by Snappy. */
const kindsRead = [0, 1]

/** Those that LevelDB would look into. */
export const unfenced = (blocks: readonly DamagedBlock[]): readonly DamagedBlock[] =>
  blocks.filter(({ kind }) => kindsRead.includes(kind))

/**
 * Keeps LevelDB from blocks of the table at `path`: it would take what is in them for what was written, or end the
 * process. Of each one byte is changed, from which the one before can be told.
 */
export async function fence(path: string, blocks: readonly DamagedBlock[]): Promise<void> {
  const file = await open(path, 'r+')
  try {
    for (const { kind, kindAt } of blocks) await file.write(Buffer.of(kind | fenceBit), 0, 1, kindAt)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** What is to be known of fences that there are now; '' where there are none. */
export function fencesNote(blocks: readonly DamagedBlock[]): string {
  const fences = blocks
    .map(({ kind, kindAt }) => ({ kindAt, was: kind & ~fenceBit }))
    .filter(({ was }) => kindsRead.includes(was))
  if (fences.length === 0) return ''
  const bytes = fences.map(({ kindAt, was }) => `byte ${kindAt}, which was ${was}, is ${was | fenceBit}`)
  return `; for LevelDB to refuse what is damaged, ${bytes.join(', ')}`
}
