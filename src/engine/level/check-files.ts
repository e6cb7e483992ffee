import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkInventory, isTable } from './inventory.ts'
import { someAtOnce } from './some-at-once.ts'
import { type TableDepth, tableProblem } from './tables.ts'

/**
 * How much of the files is looked at: `start`, what can be within a moment, also where they are many; `verify`, every
 * byte.
 */
export type FilesDepth = 'start' | 'verify'

const tableDepth: Readonly<Record<FilesDepth, TableDepth>> = { start: 'structure', verify: 'all' }

/**
 * Sentences about files of a store that are damaged; each starts with the name of its file. To be asked before the
 * store is opened, which replaces files; then `withoutRemoved`.
 */
export async function checkFiles(path: string, depth: FilesDepth): Promise<readonly string[]> {
  const changed = await checkInventory(path, depth)
  const told = new Set(changed.map(fileOf))
  const tables = (await readdir(path)).filter((name) => isTable(name) && !told.has(name))
  const found = await someAtOnce(tables, (name) => tableProblem(join(path, name), tableDepth[depth]))
  return [...changed, ...found.filter((problem) => problem !== null)]
}

/**
 * Leaves out tables that a crash or a close has left half written: LevelDB removes them when it opens the store, and
 * says so in its text before it does anything else.
 */
export async function withoutRemoved(path: string, sentences: readonly string[]): Promise<readonly string[]> {
  if (sentences.length === 0) return []
  const text = await readFile(join(path, 'LOG'), 'utf8').catch(() => '')
  const [opening = ''] = text.split(/ Compacting \d+@/, 1)
  const removed = new Set(
    [...opening.matchAll(/ Delete type=2 #(\d+)$/gm)].map(([, number]) => Number(number)),
  )
  return sentences.filter((sentence) => !isTable(fileOf(sentence)) || !removed.has(parseInt(sentence, 10)))
}

const fileOf = (sentence: string): string => sentence.split(' ', 1)[0] ?? ''
