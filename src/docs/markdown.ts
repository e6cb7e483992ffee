import { Marked, type Tokens } from 'marked'
import { type Chapter, chapters, index, pathOf } from './chapters.ts'
import { anchorOf, escapeHtml, renderPage, type Section } from './layout.ts'
import { rowAnchor } from './search-entries.ts'

/**
 * Renders the Markdown of a chapter as a page.
 * @param title title of the page, if the page is only a part of the chapter
 */
export function renderChapter(chapter: Chapter, text: string, title = chapter.title): string {
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
  return renderPage({ title, chapter, sections, body })
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

const localDocs = 'http://localhost:8787/docs'

/**
 * Returns the target that a chapter's link has on a server; null if it leads to a file that is only in the
 * repository.
 */
function linkTarget(href: string): string | null {
  if (href.startsWith(localDocs)) return href.slice('http://localhost:8787'.length)
  if (/^(https?:|mailto:|#)/.test(href)) return href
  const [, name, anchor = ''] = /^([a-z-]+|README)\.md(#.*)?$/.exec(href) ?? []
  const chapter = [index, ...chapters].find((each) => each.name === name)
  return chapter === undefined ? null : pathOf(chapter) + anchor
}
