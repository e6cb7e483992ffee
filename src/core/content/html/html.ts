import {
  type BlockList,
  type BlockMarks,
  type Inline,
  isList,
  type ListItem,
  type NeutralBlock,
  type TableCell,
  type TaskItem,
} from '../blocks/block.ts'
import type { BlockFormat, WrittenBlocks } from '../blocks/block-format.ts'
import { isInvisible } from '../blocks/block-keys.ts'
import type { Output } from '../output.ts'
import { type FormattingTag, TagWriter } from '../xml/serialize.ts'
import { HtmlReader } from './html-reader.ts'
import { atomAttribute, blockAttribute, breakAttribute, parseHtml } from './parse-html.ts'
import { isSafeImage, isSafeLink } from './safe-address.ts'

/** HTML as browsers read it. Every text is well-formed. */
export const htmlFormat: BlockFormat = {
  name: 'html',
  tables: 'all',
  hasAllMarks: true,
  parse: (text, features) => new HtmlReader(features).read(parseHtml(text)),
  write: writeHtml,
}

/**
 * Writes blocks as HTML, one element for each block that is visible. Empty paragraphs are not written, and
 * addresses that may run a script neither. The position of a block is the index of its node: a line break
 * separates two elements.
 */
function writeHtml(blocks: readonly NeutralBlock[], output: Output): WrittenBlocks {
  let next = 0
  const starts = blocks.map((block) => {
    const start = next
    if (!isInvisible(block)) next += 2
    return start
  })
  return { text: new HtmlWriter(output).write(blocks), starts }
}

class HtmlWriter extends TagWriter {
  write(blocks: readonly NeutralBlock[]): string {
    this.#blocks(blocks)
    return this.text
  }

  /** Writes the blocks that are visible, each on lines of its own. */
  #blocks(blocks: readonly NeutralBlock[]): void {
    const visible = blocks.filter((block) => !isInvisible(block))
    this.#joined(visible, (block) => this.#block(block))
  }

  #block(block: NeutralBlock): void {
    switch (block.kind) {
      case 'paragraph':
        return this.#element('p', '', () => this.#line(block.content))
      case 'heading':
        return this.#element(`h${block.level}`, '', () => this.#line(block.content))
      case 'blockquote':
        return this.#element('blockquote', '', () => this.#lines(() => this.#blocks(block.children)))
      case 'bulletList':
      case 'orderedList':
      case 'taskList':
        return this.#list(block)
      case 'codeBlock':
        return this.#code(block.language, block.text)
      case 'horizontalRule':
        return this.push('<hr>')
      case 'table':
        return this.#element('table', '', () =>
          this.#lines(() =>
            this.#joined(block.children, ({ children }) =>
              this.#element('tr', '', () => {
                for (const cell of children) this.#cell(cell)
              }),
            ),
          ),
        )
      case 'image':
        return this.#element('p', '', () => this.#line([block]))
      case 'custom':
        return this.#element('div', attribute(blockAttribute, block.id), () =>
          this.push(escapeHtml(block.name)),
        )
      default:
        return block satisfies never
    }
  }

  #element(name: string, attributes: string, content: () => void): void {
    this.push(`<${name}${attributes}>`)
    content()
    this.push(`</${name}>`)
  }

  /** Writes content on lines of its own. */
  #lines(content: () => void): void {
    this.push('\n')
    content()
    this.push('\n')
  }

  #joined<T>(parts: readonly T[], write: (part: T) => void): void {
    parts.forEach((part, index) => {
      if (index > 0) this.push('\n')
      write(part)
    })
  }

  #list(list: BlockList): void {
    const [name, start] = list.kind === 'orderedList' ? ['ol', list.start] : ['ul', 1]
    const items: readonly (ListItem | TaskItem)[] = list.children
    const number = start === 1 ? '' : attribute('start', String(start))
    this.#element(name, list.kind === 'taskList' ? attribute('data-type', 'taskList') : number, () =>
      this.#lines(() =>
        this.#joined(items, (item) =>
          this.#element('li', taskAttributes(item), () => {
            if (item.kind === 'taskItem')
              this.push(`<input type="checkbox"${item.checked ? ' checked' : ''}> `)
            this.#content(item.children)
          }),
        ),
      ),
    )
  }

  #cell({ kind, align, children }: TableCell): void {
    const style = align === null ? '' : attribute('style', `text-align: ${align}`)
    this.#element(kind === 'tableHeader' ? 'th' : 'td', style, () => this.#content(children))
  }

  /** Writes the content of an item or a cell. A paragraph before nothing but lists has no element. */
  #content(blocks: readonly NeutralBlock[]): void {
    const [first, ...others] = blocks.filter((block) => !isInvisible(block))
    if (first === undefined) return
    if (first.kind !== 'paragraph' || !others.every(isList)) return this.#blocks(blocks)
    this.#line(first.content)
    if (others.length > 0) this.push('\n')
    this.#blocks(others)
  }

  #code(language: string | null, text: string): void {
    const isClass = language !== null && !/\s/.test(language)
    const stated = language === null || isClass ? '' : attribute('data-language', language)
    this.push(`<pre${stated}><code${isClass ? attribute('class', `language-${language}`) : ''}>`)
    // A reader removes one line break at the end.
    this.push(`${escapeHtml(text)}${text.endsWith('\n') ? '\n' : ''}</code></pre>`)
  }

  #line(content: readonly Inline[]): void {
    const [only, ...others] = content
    if (only?.kind === 'hardBreak' && others.length === 0) return this.push(`<br ${breakAttribute}>`)
    let open: readonly FormattingTag[] = []
    let atSpace = true
    for (const [index, inline] of content.entries()) {
      open = this.change(open, tagsOf(inline))
      const isEnd = (content[index + 1]?.kind ?? 'hardBreak') === 'hardBreak'
      this.push(inline.kind === 'text' ? textHtml(inline.text, atSpace, isEnd) : atomHtml(inline))
      atSpace = inline.kind === 'text' ? inline.text.endsWith(' ') : inline.kind === 'hardBreak'
    }
    this.change(open, [])
  }
}

/** Returns the attributes by which Tiptap reads a task. The checkbox in it is for browsers and other readers. */
const taskAttributes = (item: ListItem | TaskItem): string =>
  item.kind === 'taskItem'
    ? attribute('data-type', 'taskItem') + attribute('data-checked', String(item.checked))
    : ''

function tagsOf(inline: Inline): readonly FormattingTag[] {
  if (inline.kind === 'image') return inline.href === null ? [] : linkTags({ href: inline.href, title: null })
  if (inline.kind !== 'text') return []
  const { link, bold, italic, strike, code, underline, subscript, superscript } = inline.marks
  const simple = [
    bold && 'strong',
    italic && 'em',
    underline && 'u',
    strike && 's',
    subscript && 'sub',
    superscript && 'sup',
    code && 'code',
  ].flatMap((name) => (name ? [{ name, start: `<${name}>` }] : []))
  return link === undefined ? simple : [...linkTags(link), ...simple]
}

function linkTags({ href, title }: NonNullable<BlockMarks['link']>): readonly FormattingTag[] {
  if (!isSafeLink(href)) return []
  const titled = title === null ? '' : attribute('title', title)
  return [{ name: 'a', start: `<a${attribute('href', href)}${titled}>` }]
}

function atomHtml(inline: Exclude<Inline, { kind: 'text' }>): string {
  if (inline.kind === 'hardBreak') return '<br>'
  if (inline.kind === 'custom')
    return `<span${attribute(atomAttribute, inline.id)}>${escapeHtml(inline.name)}</span>`
  const { src, alt, title } = inline
  const source = isSafeImage(src) ? attribute('src', src) : ''
  return `<img${source}${attribute('alt', alt)}${title === null ? '' : attribute('title', title)}>`
}

/** Writes text. White space that HTML would drop or shorten is in an element that keeps it. */
const textHtml = (text: string, atSpace: boolean, isEnd: boolean): string =>
  escapeHtml(text).replace(/[ \t]+/g, (spaces, at: number, { length }: string) =>
    spaces === ' ' && !(atSpace && at === 0) && !(isEnd && at === length - 1)
      ? spaces
      : `<span style="white-space: pre-wrap">${spaces}</span>`,
  )

const attribute = (name: string, value: string): string => ` ${name}="${escapeHtml(value)}"`

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\u00a0': '&nbsp;',
  '\r': '&#13;',
}

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"\u00a0\r]/g, (found) => escapes[found] as string)
