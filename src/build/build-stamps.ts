import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../core/base/package-file.ts'

const root = fileURLToPath(packageFile('.'))

/** Files of a build with the hash of the sources from which its programs, or all of the package, were built. */
const stamps = { programs: 'SOURCES', package: 'build/PACKAGE' } as const

export type BuiltPart = keyof typeof stamps

/** Returns whether a folder has a build of the present sources. */
export function isCurrent(folder: string, part: BuiltPart): boolean {
  const file = packageFile(folder + stamps[part])
  return existsSync(file) && readFileSync(file, 'utf8') === sourceHash()
}

export const markCurrent = (folder: string, part: BuiltPart): void =>
  writeFileSync(packageFile(folder + stamps[part]), sourceHash())

/** Returns the SHA-256 of the sources, and of the files that determine the packages and the compiler options. */
export function sourceHash(): string {
  const hash = createHash('sha256')
  const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  for (const file of ['package.json', 'package-lock.json', 'tsconfig.json', ...sources.sort()])
    hash.update(`${file}\0`).update(readFileSync(join(file.startsWith(root) ? '' : root, file)))
  return hash.digest('hex')
}
