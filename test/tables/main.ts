/** Writes the generated tables into the chapters: `npm run docs:tables`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { limitsTables } from '../../src/api/limits-tables.ts'
import { chapters } from '../../src/docs/chapters.ts'
import { fillTables } from '../../src/docs/tables.ts'

for (const { name } of chapters) {
  const file = join(import.meta.dirname, '../..', 'src', 'docs', `${name}.md`)
  writeFileSync(file, fillTables(readFileSync(file, 'utf8'), limitsTables))
}
