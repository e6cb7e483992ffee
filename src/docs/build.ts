import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { packageFile } from '../config/package-file.ts'
import { chapters, errorChapter, index } from './chapters.ts'
import { errorCodeNames, errorPage } from './error-list.ts'
import { renderChapter } from './markdown.ts'
import { fillTables } from './tables.ts'

/** Renders the chapters to `dist/docs`. */
const source = (name: string): URL => packageFile(`src/docs/${name}`)
const read = (name: string): string => readFileSync(source(`${name}.md`), 'utf8')

mkdirSync(packageFile('dist/docs/'), { recursive: true })
copyFileSync(source('style.css'), packageFile('dist/docs/style.css'))
cpSync(source('pictures'), packageFile('dist/docs/pictures'), { recursive: true })
for (const chapter of [index, ...chapters])
  writeFileSync(
    packageFile(`dist/docs/${chapter.name}.html`),
    renderChapter(chapter, fillTables(read(chapter.name))),
  )

for (const code of errorCodeNames) {
  const file = packageFile(`dist/docs/errors/${code}.html`)
  mkdirSync(new URL('.', file), { recursive: true })
  writeFileSync(file, renderChapter(errorChapter, errorPage(code), code))
}
