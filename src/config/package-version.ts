import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { readJson } from '../json.ts'
import { packageFile } from './package-file.ts'

/** Returns the version of this package. */
export function readPackageVersion(): string {
  const manifest = readFileSync(packageFile('package.json'), 'utf8')
  return readJson(v.looseObject({ version: v.string() }), manifest).version
}
