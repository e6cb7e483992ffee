import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { packageFile } from '../config/package-file.ts'
import { chapters, index } from './chapters.ts'
import { renderChapter } from './markdown.ts'
import { filled } from './tables.ts'

/** Renders the chapters to `dist/docs`; with `--tables` it writes the tables that are made of the code into them instead. */
const source = (name: string): URL => packageFile(`src/docs/${name}`)
const read = (name: string): string => readFileSync(source(`${name}.md`), 'utf8')

if (process.argv.includes('--tables')) {
  for (const { name } of chapters) writeFileSync(source(`${name}.md`), filled(read(name)))
} else {
  mkdirSync(packageFile('dist/docs/'), { recursive: true })
  copyFileSync(source('style.css'), packageFile('dist/docs/style.css'))
  cpSync(source('pictures'), packageFile('dist/docs/pictures'), { recursive: true })
  for (const chapter of [index, ...chapters])
    writeFileSync(
      packageFile(`dist/docs/${chapter.name}.html`),
      renderChapter(chapter, filled(read(chapter.name))),
    )
}
