/** Writes the generated files: `npm run docs:tables`. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { limitsTables } from '../../src/api/limits-tables.ts'
import { apiFiles } from '../../src/build/package-api/api-files.ts'
import { optionValuesFile, optionValuesSource } from '../../src/build/package-api/option-values.ts'
import { compileEntryPointTypes, reportPath } from '../../src/build/package-types.ts'
import { chapters } from '../../src/docs/chapters.ts'
import { fillTables } from '../../src/docs/tables.ts'

const root = join(import.meta.dirname, '../..')

// The types of the options in the package.
writeFileSync(join(root, optionValuesFile), optionValuesSource())
execFileSync('npx', ['biome', 'format', '--write', optionValuesFile], { cwd: root, stdio: 'ignore' })

// The tables in the chapters of the documentation.
for (const { name } of chapters) {
  const file = join(root, 'src', 'docs', `${name}.md`)
  writeFileSync(file, fillTables(readFileSync(file, 'utf8'), limitsTables))
}

// The types and the table of the operations in the package.
for (const { path, text } of apiFiles()) writeFileSync(join(root, path), text)

// The exported types of the entry points of the package.
for (const { name, report } of compileEntryPointTypes()) writeFileSync(join(root, reportPath(name)), report)
