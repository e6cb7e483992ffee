import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { atEnd } from '../../../src/cli/bench/ending.ts'
import { builtFile, packageFile } from '../../../src/core/base/package-file.ts'

const root = fileURLToPath(packageFile('.'))
const builtFolder = relative(root, fileURLToPath(builtFile('.')))

/** A build of another version. */
export interface OtherVersion {
  readonly version: string
  /** Path of its program. */
  readonly program: string
}

const versionIn = (folder: string): string =>
  (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version

/** @param folder the built package of the other version; null is a copy of this build with the next version number */
export function otherVersion(folder: string | null): OtherVersion {
  if (folder !== null) return { version: versionIn(folder), program: join(folder, 'dist', 'main.js') }
  // The libraries of the server are found from here.
  const copy = join(root, `node_modules/.cache/weft-other-version-${process.pid}`)
  atEnd(() => rmSync(copy, { recursive: true, force: true }))
  mkdirSync(copy, { recursive: true })
  cpSync(join(root, builtFolder), join(copy, builtFolder), {
    recursive: true,
    filter: (path) => !path.endsWith('.map'),
  })
  const [major, minor, patch] = versionIn(root).split('.').map(Number)
  const version = `${major}.${minor}.${Number(patch) + 1}`
  writeFileSync(join(copy, 'package.json'), JSON.stringify({ name: 'weft-server', version, type: 'module' }))
  return { version, program: join(copy, builtFolder, 'main.js') }
}
