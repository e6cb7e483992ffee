import { execSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../config/package-file.ts'

const root = fileURLToPath(packageFile('.'))

/**
 * Writes a file `LICENSES` to the folder, with the licenses of all packages that the build contains or needs.
 */
export function writeLicenses(folder: string): void {
  const texts = [...new Set([...runtimePackages(), ...bundledPackages(folder)])].map(
    (path) => `${nameOfPackage(path)}\n${licenseOf(path)}\n`,
  )
  writeFileSync(packageFile(`${folder}LICENSES`), texts.join('\n'))
}

const nameOfPackage = (path: string): string =>
  path.replace(/^.*[\\/]node_modules[\\/]/, '').replaceAll('\\', '/')

/** Returns the paths of the packages that the server needs at run time. */
function runtimePackages(): readonly string[] {
  const listed = execSync('npm ls --omit=dev --all --parseable', { cwd: root, encoding: 'utf8' })
  return listed.split(/\r?\n/).filter((path) => /[\\/]node_modules[\\/]/.test(path))
}

/**
 * Returns the paths of the packages that are part of the scripts for browsers. The source maps show which
 * packages these are.
 */
function bundledPackages(folder: string): readonly string[] {
  const found = new Set<string>()
  for (const map of ['console', 'docs'].flatMap((name) => mapsIn(packageFile(`${folder}${name}/`)))) {
    const scripts = dirname(map)
    const { sources } = JSON.parse(readFileSync(map, 'utf8')) as { sources: readonly string[] }
    for (const source of sources) {
      const [path] = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(join(scripts, source)) ?? []
      if (path !== undefined) found.add(path)
    }
  }
  return [...found].sort()
}

function mapsIn(folder: URL): readonly string[] {
  const path = fileURLToPath(folder)
  return readdirSync(path)
    .filter((name) => name.endsWith('.map'))
    .map((name) => join(path, name))
}

/** Returns the license file of a package, or the license in its manifest if it has no license file. */
function licenseOf(path: string): string {
  const files = existsSync(path) ? readdirSync(path).filter((name) => /^licen[cs]e/i.test(name)) : []
  if (files.length > 0) return files.map((name) => readFileSync(join(path, name), 'utf8')).join('\n')
  const manifest = readFileSync(join(path, 'package.json'), 'utf8')
  return manifest.split('\n').find((line) => line.includes('"license"')) ?? ''
}
