import { open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkManifest, isTable, mapLimit, recordUnreadable, tablesAtStart } from './file-manifest.ts'
import { requireUnlocked } from './level-errors.ts'
import { type DamagedBlock, findTableDamage, type TableDamage } from './table-check.ts'

/**
 * Bit that is not set in any compression type of LevelDB. If it is set, LevelDB rejects the block and does
 * not read it.
 */
const unreadableBit = 128
/** Compression types that LevelDB reads: uncompressed and Snappy. */
const kindsRead = [0, 1]

/** Returns the blocks that LevelDB would read although they are damaged. */
const readableBlocks = (blocks: readonly DamagedBlock[]): readonly DamagedBlock[] =>
  blocks.filter(({ kind }) => kindsRead.includes(kind))

/**
 * Changes one byte of each damaged block of the table at `path`, so that LevelDB rejects the block. Without
 * this change, LevelDB would accept the damaged content, or end the process. The original byte can be
 * computed from the changed byte.
 */
async function makeUnreadable(path: string, blocks: readonly DamagedBlock[]): Promise<void> {
  const file = await open(path, 'r+')
  try {
    for (const { kind, kindAt } of blocks) await file.write(Buffer.of(kind | unreadableBit), 0, 1, kindAt)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Describes the changed bytes for the operator. Returns '' if no byte was changed. */
function unreadableBlocksNote(blocks: readonly DamagedBlock[]): string {
  const changed = blocks
    .map(({ kind, kindAt }) => ({ kindAt, was: kind & ~unreadableBit }))
    .filter(({ was }) => kindsRead.includes(was))
  if (changed.length === 0) return ''
  const bytes = changed.map(
    ({ kindAt, was }) => `byte ${kindAt} was changed from ${was} to ${was | unreadableBit}`,
  )
  return `; so that LevelDB refuses the damaged blocks, ${bytes.join(', ')}`
}

/**
 * How thoroughly files are checked. `start`: only as many bytes as can be read in a moment, even if there are
 * many files. `verify`: every byte.
 */
export type FilesDepth = 'start' | 'verify'

/**
 * Checks the files of a store. Returns sentences that describe damaged files; each sentence starts with the
 * name of its file. Marks the damaged blocks of tables as unreadable, so that LevelDB does not read them.
 * Call this function before the store is opened, because opening replaces files. Call `withoutRemoved` after
 * the store is opened.
 * @throws the error of `level` if blocks are damaged and another process has the store open
 */
export async function checkFiles(path: string, depth: FilesDepth): Promise<readonly string[]> {
  const { problems, sound } = await checkManifest(path, depth)
  const problemOfFile = new Map(problems.map((sentence) => [fileOf(sentence), sentence]))
  const atStart = await tablesAtStart(path)
  const isWalked = (name: string) => depth === 'verify' || atStart.has(name)
  // At `start`, sound tables are skipped, because every byte of them has been read before, by this start or
  // an earlier one.
  const isLookedAt = (name: string) => isTable(name) && (depth === 'verify' || !sound.has(name))
  const found = await mapLimit((await readdir(path)).filter(isLookedAt), async (name) => {
    const damage = await findTableDamage(join(path, name), isWalked(name) ? 'all' : 'structure')
    return damage === null ? [] : [{ name, damage }]
  })
  const damaged = found.flat()
  await makeAllUnreadable(path, damaged)
  for (const { name, damage } of damaged)
    problemOfFile.set(
      name,
      `${problemOfFile.get(name) ?? damage.problem}${unreadableBlocksNote(damage.blocks)}`,
    )
  return [...problemOfFile.values()]
}

interface DamagedTable {
  readonly name: string
  readonly damage: TableDamage
}

async function makeAllUnreadable(path: string, tables: readonly DamagedTable[]): Promise<void> {
  const open = tables.filter(({ damage }) => readableBlocks(damage.blocks).length > 0)
  if (open.length === 0) return
  await requireUnlocked(path)
  await recordUnreadable(
    path,
    open.map(({ name }) => name),
  )
  for (const { name, damage } of open) await makeUnreadable(join(path, name), readableBlocks(damage.blocks))
}

/**
 * Returns the sentences without those about tables that were incomplete because of a crash or a close.
 * LevelDB removes such tables when it opens the store, and writes the names of the removed tables into its
 * text file `LOG`.
 */
export async function withoutRemoved(path: string, sentences: readonly string[]): Promise<readonly string[]> {
  if (sentences.length === 0) return []
  const text = await readFile(join(path, 'LOG'), 'utf8').catch(() => '')
  const [opening = ''] = text.split(/ Compacting \d+@/, 1)
  const removed = new Set(
    [...opening.matchAll(/ Delete type=2 #(\d+)$/gm)].map(([, number]) => Number(number)),
  )
  return sentences.filter((sentence) => !isAboutTable(sentence) || !removed.has(parseInt(sentence, 10)))
}

export const isAboutTable = (sentence: string): boolean => isTable(fileOf(sentence))

/**
 * Returns whether a sentence is about a log file of LevelDB. After a clean stop, a log file contains
 * acknowledged writes that are not in a table yet.
 */
export const isAboutLog = (sentence: string): boolean => /^\d+\.log$/.test(fileOf(sentence))

const fileOf = (sentence: string): string => sentence.split(' ', 1)[0] ?? ''
