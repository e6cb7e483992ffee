/** Implements `npm run docs:tables`, which writes the generated tables into the chapters of the documentation. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { limitsTables } from '../../src/build/limits-tables.ts'
import { chapters } from '../../src/docs/chapters.ts'
import { fillTables } from '../../src/docs/tables.ts'

const root = join(import.meta.dirname, '../..')

for (const { name } of chapters) {
  const file = join(root, 'src', 'docs', `${name}.md`)
  writeFileSync(file, fillTables(readFileSync(file, 'utf8'), limitsTables))
}
