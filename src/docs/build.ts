import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { packageFile } from '../core/base/package-file.ts'
import { chapters, errorChapter, index } from './chapters.ts'
import { errorCodeNames, errorPage } from './error-list.ts'
import { renderChapter } from './markdown.ts'
import { chapterEntries, errorEntries } from './search-entries.ts'
import type { SearchEntry } from './search-entry.ts'
import { fillTables } from './tables.ts'

const source = (name: string): URL => packageFile(`src/docs/${name}`)
const read = (name: string): string => readFileSync(source(`${name}.md`), 'utf8')

/**
 * Renders the chapters and the pages of the error codes as HTML.
 * @param folder the folder of the build, with a final slash; the pages are written to its subfolder `docs/`
 */
export function buildDocs(folder: string): void {
  const target = (path: string): URL => packageFile(`${folder}docs/${path}`)
  mkdirSync(target(''), { recursive: true })
  copyFileSync(source('style.css'), target('style.css'))
  cpSync(source('pictures'), target('pictures'), { recursive: true })
  for (const chapter of [index, ...chapters])
    writeFileSync(target(`${chapter.name}.html`), renderChapter(chapter, fillTables(read(chapter.name))))
  for (const code of errorCodeNames) {
    const file = target(`errors/${code}.html`)
    mkdirSync(new URL('.', file), { recursive: true })
    writeFileSync(file, renderChapter(errorChapter, errorPage(code), code))
  }
}

/** Returns the search entries of the chapters and of the error codes. */
export const documentationEntries = (): readonly SearchEntry[] => [
  ...[index, ...chapters].flatMap((chapter) => chapterEntries(chapter, fillTables(read(chapter.name)))),
  ...errorEntries(),
]
