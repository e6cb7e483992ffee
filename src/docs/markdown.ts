import { Marked, type Tokens } from 'marked'
import { type Chapter, chapters, index, pathOf } from './chapters.ts'
import { anchorOf, escapeHtml, renderPage, type Section } from './layout.ts'

/** A chapter's Markdown as the page that a server answers. @param title of the page, if it is only a part of the chapter */
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
        // The repository is not at hand where this is read.
        return target === null ? inside : `<a href="${escapeHtml(target)}">${inside}</a>`
      },
      image: ({ href, text: alternative }) =>
        `<img src="/docs/${escapeHtml(href)}" alt="${escapeHtml(alternative)}">`,
      code({ text: code, lang }) {
        const language = escapeHtml(languageOf(lang))
        return `<pre tabindex="0"><code class="language-${language}">${escapeHtml(code)}\n</code></pre>\n`
      },
      table(token: Tokens.Table) {
        const row = (cells: readonly Tokens.TableCell[], tag: 'th' | 'td') =>
          `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>\n`
        const rows = token.rows.map((cells) => row(cells, 'td')).join('')
        return scrolling(`<thead>\n${row(token.header, 'th')}</thead>\n<tbody>\n${rows}</tbody>`)
      },
      // Comments: marks for those who write.
      html: () => '',
    },
  })
  const body = marked.parse(text, { async: false })
  return renderPage({ title, chapter, sections, body })
}

/** A table that is scrolled by itself where the page is too narrow for it, by keyboard, too. */
const scrolling = (table: string): string =>
  `<div class="table" role="group" aria-label="Table" tabindex="0"><table>\n${table}\n</table></div>\n`

/** The first word of what stands behind the fence; what follows is for the tests. */
const languageOf = (info: string | undefined): string => info?.split(' ')[0] || 'text'

const localDocs = 'http://localhost:8787/docs'

/** Where a link of a chapter leads at a server; null for files that are in the repository alone. */
export function linkTarget(href: string): string | null {
  if (href.startsWith(localDocs)) return href.slice('http://localhost:8787'.length)
  if (/^(https?:|mailto:|#)/.test(href)) return href
  const [, name, anchor = ''] = /^([a-z]+|README)\.md(#.*)?$/.exec(href) ?? []
  const chapter = [index, ...chapters].find((each) => each.name === name)
  return chapter === undefined ? null : pathOf(chapter) + anchor
}
