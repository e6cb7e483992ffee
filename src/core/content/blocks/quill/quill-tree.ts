import { type FormatTable, type FormattedText, piecesOf } from '../../delta/formatted-text.ts'
import type { JsonObject } from '../../json/json.ts'
import { xmlName, xmlText } from '../../xml/names.ts'
import type { XmlElement, XmlNode } from '../../xml/tree.ts'
import type { BlockWriter } from '../block-writer.ts'
import {
  blockEmbeds,
  type LineStructure,
  type ListType,
  lineAttribute,
  lineAttributes,
  quillDialect,
  stepAttribute,
  structureOf,
} from './quill-dialect.ts'

/** An embed of a text, and the number of its formatting. */
export interface StoredEmbed {
  readonly value: JsonObject
  readonly format: number
}

/** A text of Quill as a tree of nodes, which can be merged with new blocks. */
export interface QuillTree {
  readonly root: XmlElement
  /** The embeds for which the nodes stand. */
  readonly embeds: ReadonlyMap<XmlNode, StoredEmbed>
  /** The offset in the text at which the embed of a node is, or the first line break of a node. */
  readonly offsets: ReadonlyMap<XmlNode, number>
}

/** A line, or an embed that is a block. */
interface Line {
  readonly structure: LineStructure
  /** Number of the attributes of the line break. */
  readonly format: number
  readonly children: readonly XmlNode[]
  /** Offset of the line break or the embed. */
  readonly at: number
  /** Whether the line is an embed that is a block, so that it has no line break. */
  readonly isEmbed: boolean
}

const none: ReadonlyMap<string, string> = new Map()

/** Reads a text of Quill. The time is linear in the text. */
export class QuillTreeReader {
  readonly #content: FormattedText
  readonly #formats: FormatTable
  readonly #writer: BlockWriter
  readonly #embeds = new Map<XmlNode, StoredEmbed>()
  readonly #offsets = new Map<XmlNode, number>()

  constructor(content: FormattedText, formats: FormatTable, writer: BlockWriter) {
    this.#content = content
    this.#formats = formats
    this.#writer = writer
  }

  read(): QuillTree {
    const root = this.#writer.named('', this.#blocks(this.#lines()), none)
    return { root, embeds: this.#embeds, offsets: this.#offsets }
  }

  #lines(): Line[] {
    const { text } = this.#content
    const lines: Line[] = []
    const builder = this.#writer.newChildren()
    const endLine = (at: number, format: number): void => {
      const structure = structureOf(this.#formats.get(format).attributes)
      lines.push({ structure, format, children: builder.take(), at, isEmbed: false })
    }
    for (const { insert, format, at } of piecesOf(this.#content)) {
      if (typeof insert === 'string') {
        let end = at
        insert.split('\n').forEach((line, index) => {
          if (index > 0) endLine(end++, format)
          builder.text(line, format)
          end += line.length
        })
        continue
      }
      const node = this.#embed(insert, format, at)
      const isBlock = builder.endText() === 0 && blockEmbeds.has(node.name)
      if (!isBlock) builder.node(node)
      else lines.push({ structure: { kind: 'paragraph' }, format: 0, children: [node], at, isEmbed: true })
    }
    if (text !== '' && lines.at(-1)?.at !== text.length - 1) endLine(text.length, 0)
    return lines
  }

  #embed(value: JsonObject, format: number, at: number): XmlElement {
    const node = this.#embedNode(value, this.#formats.get(format).attributes)
    this.#embeds.set(node, { value, format })
    this.#offsets.set(node, at)
    return node
  }

  #embedNode(value: JsonObject, { alt, link }: JsonObject): XmlElement {
    const [entry, ...others] = Object.entries(value)
    const [name = '', content] = entry ?? []
    if (name === 'image' && others.length === 0 && typeof content === 'string' && isPlain(content)) {
      const attributes = new Map([['src', content]])
      if (typeof alt === 'string' && isPlain(alt)) attributes.set('alt', alt)
      if (typeof link === 'string' && isPlain(link)) attributes.set('href', link)
      return this.#writer.named('image', [], attributes)
    }
    // The name of an image without an address must not be that of an image.
    return this.#writer.named(name === 'image' ? 'embed' : xmlName(name.slice(0, nameMax)), [], none)
  }

  #blocks(lines: readonly Line[]): XmlNode[] {
    const blocks: XmlNode[] = []
    for (let start = 0; start < lines.length; ) {
      const end = this.#endOfGroup(lines, start)
      const group = lines.slice(start, end)
      for (const block of this.#group(group[0] as Line, group)) blocks.push(block)
      start = end
    }
    return blocks
  }

  /** Returns the index after the last line that is part of the same block, or of the same lists. */
  #endOfGroup(lines: readonly Line[], start: number): number {
    const first = lines[start] as Line
    const { kind } = first.structure
    let end = start + 1
    if (first.isEmbed || kind === 'paragraph' || kind === 'heading') return end
    for (let next = lines[end]; next !== undefined && !next.isEmbed; next = lines[++end]) {
      if (next.structure.kind !== kind || (kind === 'codeBlock' && next.format !== first.format)) break
    }
    return end
  }

  #group(first: Line, lines: readonly Line[]): readonly XmlNode[] {
    if (first.isEmbed) return first.children
    switch (first.structure.kind) {
      case 'paragraph':
        return [this.#line(first)]
      case 'heading':
        return [this.#line(first, 'heading', new Map([['level', String(first.structure.level)]]))]
      case 'codeBlock':
        return [this.#code(first, lines, first.structure.language)]
      case 'item':
        return this.#lists(lines, 0)
      default: {
        const { kind } = first.structure
        const children = lines.map((line) => this.#line(line))
        const block = this.#writer.named(kind, children, none)
        this.#offsets.set(block, first.at)
        return [block]
      }
    }
  }

  #line({ children, ...line }: Line, name = 'paragraph', stated = none): XmlElement {
    return this.#writer.named(name, children, new Map([...stated, ...this.#unstated(line)]))
  }

  /** Returns the attribute that keeps the attributes of a line, if its structure does not state all of them. */
  #unstated({
    structure,
    format,
  }: Pick<Line, 'structure' | 'format'>): readonly (readonly [string, string])[] {
    if (this.#formats.of(lineAttributes(structure, {})) === format) return []
    return [[lineAttribute, JSON.stringify(this.#formats.get(format).attributes)]]
  }

  #code(first: Line, lines: readonly Line[], language: string | null): XmlElement {
    const builder = this.#writer.newChildren()
    for (const [index, line] of lines.entries()) {
      if (index > 0) builder.text('\n', 0)
      for (const child of line.children)
        if (child.kind === 'element') builder.node(child)
        else builder.runsOf(child)
    }
    const children = builder.take()
    const stated = language === null ? none : new Map([[quillDialect.language, xmlText(language)]])
    const block = this.#writer.named('codeBlock', children, new Map([...stated, ...this.#unstated(first)]))
    this.#offsets.set(block, first.at)
    return block
  }

  /**
   * Returns the lists of adjacent items.
   * @param base the indent of an item that is not in another one of these items
   */
  #lists(lines: readonly Line[], base: number): XmlNode[] {
    const lists: XmlNode[] = []
    for (let at = 0; at < lines.length; ) {
      const first = itemOf(lines[at] as Line)
      const name = listNames[first.list]
      const items: XmlNode[] = []
      for (let line = lines[at]; line !== undefined; line = lines[at]) {
        const { list, indent } = itemOf(line)
        if (indent !== first.indent || listNames[list] !== name) break
        let end = at + 1
        while (end < lines.length && itemOf(lines[end] as Line).indent > indent) end += 1
        items.push(this.#item(line, list, this.#lists(lines.slice(at + 1, end), indent + 1)))
        at = end
      }
      const step = first.indent - base
      const attributes = step === 0 ? none : new Map([[stepAttribute, String(step)]])
      lists.push(this.#writer.named(name, items, attributes))
    }
    return lists
  }

  #item(line: Line, list: ListType, lists: readonly XmlNode[]): XmlNode {
    const children = [this.#line(line), ...lists]
    if (list !== 'checked' && list !== 'unchecked') return this.#writer.named('listItem', children, none)
    return this.#writer.named('taskItem', children, new Map([['checked', String(list === 'checked')]]))
  }
}

/** Maximum length of the name of an embed in a placeholder. */
const nameMax = 40

const listNames: Readonly<Record<ListType, string>> = {
  bullet: 'bulletList',
  ordered: 'orderedList',
  checked: 'taskList',
  unchecked: 'taskList',
}

const itemOf = ({ structure }: Line): Extract<LineStructure, { kind: 'item' }> =>
  structure.kind === 'item' ? structure : { kind: 'item', list: 'bullet', indent: 0 }

/** Returns whether a text contains only characters that attributes of nodes may contain. */
const isPlain = (text: string): boolean => xmlText(text) === text
