import { Marked, Parser, TextRenderer, type Token, type Tokens } from 'marked'
import { type Chapter, errorChapter, pathOf } from './chapters.ts'
import { errorCodeNames, errorText } from './error-list.ts'
import { anchorOf } from './layout.ts'
import type { SearchEntry } from './search-entry.ts'

/** Headers of the first column of tables in which each row has its own search entry and anchor. */
const namedRowHeaders: readonly string[] = ['Option', 'Metric', 'Limit']

/**
 * Returns the anchor of a row in a table of `namedRowHeaders`; null for other tables.
 * @param row text of the first cell of the row
 */
export const rowAnchor = (header: string, row: string): string | null =>
  namedRowHeaders.includes(header)
    ? `${header.toLowerCase()}-${anchorOf(firstName(row)).replace(/^-+/, '')}`
    : null

const firstName = (cell: string): string => cell.split(/[ ,]/)[0] ?? ''

/**
 * Returns the search entries of a chapter: one for each section, and one for each row of the tables of
 * `namedRowHeaders`.
 */
export function chapterEntries(chapter: Chapter, markdown: string): readonly SearchEntry[] {
  const found: SearchEntry[] = []
  let current = { path: pathOf(chapter), section: '', texts: [] as string[] }
  const finish = (): void => {
    const { path, section, texts } = current
    found.push({ path, page: chapter.title, section, text: texts.join(' ').replaceAll(/\s+/g, ' ').trim() })
  }
  for (const token of new Marked().lexer(withoutErrors(chapter, markdown))) {
    if (isHeading(token) && token.depth > 1) {
      finish()
      const anchor = anchorOf(inlineText(token.tokens))
      current = { path: `${pathOf(chapter)}#${anchor}`, section: readableText(token.tokens), texts: [] }
    } else if (isTable(token) && namedRowHeaders.includes(cellText(token.header[0]))) {
      found.push(...rowEntries(chapter, token))
    } else if (!isHeading(token)) current.texts.push(blockText(token))
  }
  finish()
  return found
}

/** Removes the list of errors from its chapter, because each error has a separate page and entry. */
const withoutErrors = (chapter: Chapter, markdown: string): string =>
  chapter === errorChapter ? (markdown.split('<!-- errors -->')[0] ?? '') : markdown

export const errorEntries = (): readonly SearchEntry[] =>
  errorCodeNames.map((code) => ({
    path: `/docs/errors/${code}`,
    page: errorChapter.title,
    section: code,
    text: errorText(code).replaceAll(/[`*]/g, '').replaceAll(/\s+/g, ' '),
  }))

function rowEntries(chapter: Chapter, table: Tokens.Table): readonly SearchEntry[] {
  const header = cellText(table.header[0])
  return table.rows.map((cells) => {
    const [name, ...others] = cells.map(cellText)
    return {
      path: `${pathOf(chapter)}#${rowAnchor(header, name as string)}`,
      page: chapter.title,
      section: firstName(name as string),
      text: [name, ...others].join(' · '),
    }
  })
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading'
const isTable = (token: Token): token is Tokens.Table => token.type === 'table'

const cellText = (cell: Tokens.TableCell | undefined): string => readableText(cell?.tokens ?? [])

/** Returns the text of a block, such as a paragraph, a list, a table or a sample. */
function blockText(token: Token): string {
  if (isTable(token))
    return [token.header, ...token.rows].map((cells) => cells.map(cellText).join(' ')).join(' ')
  if (token.type === 'html') return ''
  if (token.type === 'list') return (token as Tokens.List).items.map(blockText).join(' ')
  const { tokens, text = '' } = token as { readonly tokens?: Token[]; readonly text?: string }
  if (tokens === undefined) return text
  return token.type === 'paragraph' || token.type === 'text'
    ? readableText(tokens)
    : tokens.map(blockText).join(' ')
}

/**
 * Returns inline tokens as text, in which `&`, `<`, `>` and quotes are entities. The anchor of a heading is
 * made from this text.
 */
const inlineText = (tokens: Token[]): string =>
  Parser.parseInline(tokens, { renderer: new TextRenderer() } as never)

const entities: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
}

const readableText = (tokens: Token[]): string =>
  inlineText(tokens).replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (each) => entities[each] as string)
