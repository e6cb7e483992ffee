import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The folder of the project. */
export const root = resolve(import.meta.dirname, '../../..')

/** Files that git ignores, such as `/src/client/api/codes.ts`. A program writes them. */
const ignored: ReadonlySet<string> = new Set(readFileSync(join(root, '.gitignore'), 'utf8').split('\n'))

/** Returns the files under a folder whose paths match `pattern`, as paths from the root. Skips installed packages. */
export function filesUnder(folder: string, pattern: RegExp): string[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    // This does not follow links, such as the one from an example to this package.
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesUnder(path, pattern)
    const isFound = entry.isFile() && pattern.test(path) && !ignored.has(`/${path}`)
    return isFound && !/public\/main\./.test(path) ? path : []
  })
}
