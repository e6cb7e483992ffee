import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Creates a directory that only its owner can read, and missing directories above it. Returns the first created
 * directory; undefined if it exists already.
 *
 * `mkdir` of Node with `recursive` never ends in a directory in which the system creates nothing, such as `/proc`: it
 * repeats the creation after each ENOENT, although the parent exists.
 */
export async function makeDirectory(path: string): Promise<string | undefined> {
  const made = await makeOne(path)
  if (made !== 'missing parent') return made === 'made' ? path : undefined
  const above = await makeDirectory(dirname(path))
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => acceptExisting(path, error))
  return above ?? path
}

async function makeOne(path: string): Promise<'made' | 'existing' | 'missing parent'> {
  try {
    await mkdir(path, { mode: 0o700 })
    return 'made'
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && dirname(path) !== path) return 'missing parent'
    await acceptExisting(path, error)
    return 'existing'
  }
}

async function acceptExisting(path: string, error: unknown): Promise<void> {
  const found = await stat(path).catch(() => null)
  if (found?.isDirectory() !== true) throw error
}
