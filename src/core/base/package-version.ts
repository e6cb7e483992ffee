import { readFileSync } from 'node:fs'
import { readJson } from './json.ts'
import { packageFile } from './package-file.ts'
import * as s from './schema.ts'

const packageSchema = s.object({ version: s.string })

export function readPackageVersion(): string {
  const manifest = readFileSync(packageFile('package.json'), 'utf8')
  return readJson(packageSchema, manifest).version
}
