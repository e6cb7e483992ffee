import { writeFile } from 'node:fs/promises'

/**
 * Creates a file that only its owner can read. Resolves when its content is on the disk.
 * @throws an error with the code EEXIST if the file exists
 */
export const writeNewFile = (path: string, content: Parameters<typeof writeFile>[1]): Promise<void> =>
  writeFile(path, content, { mode: 0o600, flag: 'wx', flush: true })
