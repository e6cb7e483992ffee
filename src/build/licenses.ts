import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../core/base/package-file.ts'

/**
 * Writes a file `LICENSES` to the folder, with the version and the licenses of each package of which the build
 * contains code.
 * @param bundled files of which the build contains code, as paths from the top folder
 */
export function writeLicenses(folder: string, bundled: readonly string[]): void {
  const paths = bundled.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [])
  const texts = [...new Set(paths)].sort().map(licenseOf)
  writeFileSync(packageFile(`${folder}LICENSES`), texts.join('\n'))
}

export function licensedPackages(folder: string): readonly string[] {
  const text = readFileSync(packageFile(`${folder}LICENSES`), 'utf8')
  return [...text.matchAll(/^# (\S+) \d\S*$/gm)].map(([, name = '']) => name)
}

/** Returns the license files of a package, or the license in its manifest if it has no such file. */
function licenseOf(path: string): string {
  const folder = fileURLToPath(packageFile(path))
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
  const files = readdirSync(folder).filter((file) => /^licen[cs]e/i.test(file))
  const texts = files.map((file) => readFileSync(`${folder}/${file}`, 'utf8'))
  return [`# ${name} ${version}`, ...(files.length > 0 ? texts : [license]), ''].join('\n')
}
