import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Shell } from '../support/servers/shell.ts'

const root = join(import.meta.dirname, '../..')
/** `npm install`, with packages of the cache where possible. */
export const install = 'npm install --prefer-offline --no-audit --no-fund --loglevel=error'

/** A folder in which the package is installed from its tarball, as by a user without the repository. */
export class PackageFolder {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  /** Packs the build, and installs the tarball into an empty folder below `parent`. */
  static async create(parent: string): Promise<PackageFolder> {
    const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', parent]
    const name = execFileSync('npm', args, { cwd: root, encoding: 'utf8' }).trim()
    const folder = new PackageFolder(join(parent, 'package'))
    mkdirSync(folder.path)
    writeFileSync(join(folder.path, 'package.json'), '{ "private": true }\n')
    await Shell.run(`${install} '${join(parent, name)}'`, folder.path)
    return folder
  }
}
