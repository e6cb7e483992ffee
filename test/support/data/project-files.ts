import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

/** The folder of the project. */
export const root = resolve(import.meta.dirname, '../../..')

/** Files that git ignores, such as `/src/client/api/codes.ts`. A program writes them. */
const ignored: ReadonlySet<string> = new Set(readFileSync(join(root, '.gitignore'), 'utf8').split('\n'))

/** Returns the files under a folder whose names end with `ending`, as paths from the root. */
export function filesUnder(folder: string, ending: RegExp): string[] {
  if (!existsSync(join(root, folder))) return []
  // With the types, it does not follow links, such as the one from an example to this package.
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isSymbolicLink())
    .map((entry) => relative(join(root, folder), join(entry.parentPath, entry.name)))
    .filter((name) => ending.test(name) && !/node_modules|public\/main\./.test(name))
    .map((name) => join(folder, name))
    .filter((file) => !ignored.has(`/${file}`))
}
