import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Marked, type Tokens } from 'marked'
import { packageFile } from '../core/base/package-file.ts'
import { type Chapter, chapters, errorChapter, index } from './chapters.ts'
import { errorCodeNames, errorPage } from './error-list.ts'
import { anchorOf, escapeHtml, renderPage, type Section } from './layout.ts'
import { linkTarget, llmsText, markdownPage } from './markdown-pages.ts'
import { chapterEntries, errorEntries, rowAnchor } from './search-entries.ts'
import type { SearchEntry } from './search-entry.ts'
import { fillTables } from './tables.ts'

/**
 * Renders the Markdown of a chapter as a page.
 * @param name path of the page below `/docs`
 * @param title title of the page, if the page is only a part of the chapter
 */
function renderChapter(name: string, chapter: Chapter, text: string, title = chapter.title): string {
  const sections: Section[] = []
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const title = this.parser.parseInline(tokens)
        const plain = this.parser.parseInline(tokens, this.parser.textRenderer)
        const id = anchorOf(plain)
        if (depth === 2) sections.push({ id, title: plain })
        if (depth === 1) return `<h1>${title}</h1>\n`
        return `<h${depth} id="${id}">${title} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`
      },
      link({ href, tokens }) {
        const inside = this.parser.parseInline(tokens)
        const target = linkTarget(href)
        // A link to a file of the repository becomes plain text, because a server does not publish these
        // files.
        return target === null ? inside : `<a href="${escapeHtml(target)}">${inside}</a>`
      },
      image: ({ href, text: alternative }) =>
        `<img src="/docs/${escapeHtml(href)}" alt="${escapeHtml(alternative)}">`,
      code({ text: code, lang }) {
        const language = escapeHtml(languageOf(lang))
        return `<pre><code class="language-${language}">${escapeHtml(code)}\n</code></pre>\n`
      },
      table(token: Tokens.Table) {
        const row = (cells: readonly Tokens.TableCell[], tag: 'th' | 'td') =>
          `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>\n`
        const header = textOf(token.header[0])
        const rows = token.rows
          .map((cells) => {
            const id = rowAnchor(header, textOf(cells[0]))
            return row(cells, 'td').replace('<tr>', id === null ? '<tr>' : `<tr id="${id}">`)
          })
          .join('')
        return scrolling(`<thead>\n${row(token.header, 'th')}</thead>\n<tbody>\n${rows}</tbody>`)
      },
      // Removes HTML comments, which mark the generated tables.
      html: () => '',
    },
  })
  const body = marked.parse(text, { async: false })
  return renderPage({ title, chapter, sections, body, markdown: `/docs/${name}.md` })
}

const textOf = (cell: Tokens.TableCell | undefined): string => cell?.text.replaceAll('`', '') ?? ''

/** Returns a table that scrolls separately, also by keyboard, if the page is too narrow. */
const scrolling = (table: string): string =>
  `<div class="table" role="group" aria-label="Table" tabindex="0"><table>\n${table}\n</table></div>\n`

/**
 * Returns the language of a code block, which is the first word after the fence. The other words are notes
 * for the tests.
 */
const languageOf = (info: string | undefined): string => info?.split(' ')[0] || 'text'

const source = (name: string): URL => packageFile(`src/docs/${name}`)
const read = (name: string): string => readFileSync(source(`${name}.md`), 'utf8')

/**
 * Writes the chapters and the pages of the error codes as HTML and as Markdown, and the list of chapters for language
 * models.
 * @param folder the folder of the build, with a final slash; the pages are written to its subfolder `docs/`
 */
export function buildDocs(folder: string): void {
  const target = (path: string): URL => packageFile(`${folder}docs/${path}`)
  mkdirSync(target(''), { recursive: true })
  copyFileSync(source('style.css'), target('style.css'))
  cpSync(source('pictures'), target('pictures'), { recursive: true })
  const write = (name: string, chapter: Chapter, text: string, title?: string): void => {
    writeFileSync(target(`${name}.html`), renderChapter(name, chapter, text, title))
    writeFileSync(target(`${name}.md`), markdownPage(text))
  }
  for (const chapter of [index, ...chapters]) write(chapter.name, chapter, fillTables(read(chapter.name)))
  for (const code of errorCodeNames) {
    mkdirSync(new URL('.', target(`errors/${code}`)), { recursive: true })
    write(`errors/${code}`, errorChapter, errorPage(code), code)
  }
  writeFileSync(target('llms.txt'), llmsText(read(index.name)))
}

/** Returns the search entries of the chapters and of the error codes. */
export const documentationEntries = (): readonly SearchEntry[] => [
  ...[index, ...chapters].flatMap((chapter) => chapterEntries(chapter, fillTables(read(chapter.name)))),
  ...errorEntries(),
]
