import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Returns the path of the file that contains the time of the last complete backup, in the format of ISO 8601.
 */
const pathIn = (directory: string): string => join(directory, 'last-backup')

/**
 * Writes the time of a complete backup into the data directory. Ignores errors, because the backup itself has
 * succeeded.
 * @param at epoch milliseconds
 */
export async function noteBackup(directory: string, at: number): Promise<void> {
  const text = `${new Date(at).toISOString()}\n`
  await writeFile(pathIn(directory), text, { mode: 0o600 }).catch(() => undefined)
}

/** Returns the time of the last complete backup, in epoch milliseconds. Returns 0 if none is known. */
export async function readLastBackup(directory: string): Promise<number> {
  const text = await readFile(pathIn(directory), 'utf8').catch(() => '')
  return Date.parse(text.trim()) || 0
}
