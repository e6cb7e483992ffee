import { readFileSync } from 'node:fs'
import { packageFile } from './package-file.ts'

/** The version of this package. */
export function readPackageVersion(): string {
  const manifest = readFileSync(packageFile('package.json'), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
