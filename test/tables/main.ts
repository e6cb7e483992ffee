/** Implements `npm run docs:tables`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { limitsTables } from '../../src/api/limits-tables.ts'
import { compileEntryPointTypes, reportPath } from '../../src/build/package-types.ts'
import { chapters } from '../../src/docs/chapters.ts'
import { fillTables } from '../../src/docs/tables.ts'

const root = join(import.meta.dirname, '../..')

// The tables in the chapters of the documentation.
for (const { name } of chapters) {
  const file = join(root, 'src', 'docs', `${name}.md`)
  writeFileSync(file, fillTables(readFileSync(file, 'utf8'), limitsTables))
}

// The exported types of the entry points of the package.
for (const { name, report } of compileEntryPointTypes()) writeFileSync(join(root, reportPath(name)), report)
