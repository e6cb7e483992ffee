import { memoized } from '../../../base/maps.ts'
import {
  type FormatTable,
  type FormattedPiece,
  type FormattedTarget,
  type FormattedText,
  FormattedTextBuilder,
} from '../../delta/formatted-text.ts'
import type { JsonObject } from '../../json/json.ts'
import type { XmlElement, XmlNode, XmlText } from '../../xml/tree.ts'
import { attributeOf } from '../block-reader.ts'
import {
  blockEmbeds,
  indentMax,
  type LineStructure,
  type ListType,
  lineAttribute,
  lineAttributes,
  quillDialect,
  stepAttribute,
} from './quill-dialect.ts'
import type { StoredEmbed } from './quill-tree.ts'

/** Text or an embed, and the number of its formatting. */
export interface QuillPiece extends Omit<FormattedPiece, 'at'> {
  /** True if the text is code, in which Quill has no formatting. */
  readonly isCode?: true
}

const paragraph: LineStructure = { kind: 'paragraph' }
const blockquote: LineStructure = { kind: 'blockquote' }

/** Text of a horizontal rule, which Quill does not have. */
const ruleText = '---'

/**
 * Writes the lines of Quill for a tree of blocks, each with its line break. A block that Quill cannot nest
 * follows the block that it is in. A line break in a paragraph or quote starts a new line, and elsewhere it is
 * a space.
 */
export class QuillLineWriter {
  readonly #embeds: ReadonlyMap<XmlNode, StoredEmbed>
  readonly #formats: FormatTable
  readonly #pieces: QuillPiece[] = []
  #isCode = false

  /** @param embeds the embeds of the stored nodes */
  constructor(embeds: ReadonlyMap<XmlNode, StoredEmbed>, formats: FormatTable) {
    this.#embeds = embeds
    this.#formats = formats
  }

  write(nodes: readonly XmlNode[]): readonly QuillPiece[] {
    this.#blocks(nodes, paragraph)
    return this.#pieces
  }

  /** @param around the structure of paragraphs at this place */
  #blocks(nodes: readonly XmlNode[], around: LineStructure): void {
    for (const node of nodes) {
      if (node.kind === 'text') this.#line([node], around, {})
      else this.#block(node, around)
    }
  }

  #block(node: XmlElement, around: LineStructure): void {
    const embed = this.#embeds.get(node)
    if (embed !== undefined)
      return blockEmbeds.has(node.name) ? this.#embed(embed) : this.#line([node], around, {})
    switch (node.name) {
      case 'paragraph':
        return this.#line(node.children, around, storedLine(node))
      case 'heading': {
        const level = Number(attributeOf(node, 'level'))
        return this.#line(node.children, { kind: 'heading', level }, storedLine(node))
      }
      case 'blockquote':
        return this.#blocks(node.children, blockquote)
      case 'codeBlock':
        return this.#code(node)
      case 'table':
        return this.#blocks(node.children, { kind: 'table' })
      case 'horizontalRule':
        return this.#line([], paragraph, {}, ruleText)
      case 'image':
        return this.#line([node], around, {})
      default:
        if (this.#isList(node)) this.#list(node, 0)
    }
  }

  #list(list: XmlElement, base: number): void {
    const indent = base + Number(attributeOf(list, stepAttribute) ?? 0)
    for (const item of list.children) {
      if (item.kind === 'text') continue
      const [first, ...others] = item.children
      const structure = {
        kind: 'item',
        list: listTypeOf(list, item),
        indent: Math.min(indent, indentMax),
      } as const
      if (first?.kind === 'element') this.#block(first, structure)
      for (const child of others) {
        if (child.kind === 'element' && this.#isList(child)) this.#list(child, indent + 1)
        else this.#blocks([child], paragraph)
      }
    }
  }

  #isList = (node: XmlElement): boolean => Object.hasOwn(listTypes, node.name) && !this.#embeds.has(node)

  #code(node: XmlElement): void {
    const language = attributeOf(node, quillDialect.language) ?? null
    const stored = storedLine(node)
    this.#isCode = true
    this.#line(node.children, { kind: 'codeBlock', language }, stored)
    this.#isCode = false
  }

  /** Writes a line. Line breaks in it start new lines. */
  #line(nodes: readonly XmlNode[], structure: LineStructure, stored: JsonObject, text = ''): void {
    const format = this.#formats.of(lineAttributes(structure, stored))
    if (text !== '') this.#add(text, 0)
    for (const node of nodes) {
      if (node.kind === 'text') this.#text(node, format)
      else this.#atom(node, structure, format)
    }
    this.#add('\n', format)
  }

  #text({ text, runs }: XmlText, lineFormat: number): void {
    for (const [index, { start, marks }] of runs.entries()) {
      const lines = text.slice(start, runs[index + 1]?.start).split('\n')
      for (const [at, line] of lines.entries()) {
        if (at > 0) this.#add('\n', lineFormat)
        if (line !== '') this.#add(line, marks)
      }
    }
  }

  #atom(node: XmlElement, { kind }: LineStructure, lineFormat: number): void {
    const embed = this.#embeds.get(node)
    if (embed !== undefined) this.#embed(embed)
    else if (node.name === 'image') this.#image(node)
    else if (node.name === 'hardBreak' && (kind === 'paragraph' || kind === 'blockquote'))
      this.#add('\n', lineFormat)
    else if (node.name === 'hardBreak') this.#add(' ', 0)
    else {
      // A placeholder of a block in a line.
      this.#add('\n', lineFormat)
      this.#block(node, paragraph)
    }
  }

  #image(node: XmlElement): void {
    const [src = '', alt, link] = ['src', 'alt', 'href'].map((name) => attributeOf(node, name))
    const attributes = { ...(alt !== undefined && { alt }), ...(link !== undefined && { link }) }
    this.#embed({ value: { image: src }, format: this.#formats.of(attributes) })
  }

  #add(insert: QuillPiece['insert'], format: number): void {
    this.#pieces.push({ insert, format, ...(this.#isCode && { isCode: true }) })
  }

  #embed({ value, format }: StoredEmbed): void {
    this.#add(value, format)
  }
}

/** Returns the attributes of a stored line that its structure does not state. */
function storedLine(node: XmlElement): JsonObject {
  const stored = attributeOf(node, lineAttribute)
  return stored === undefined ? {} : (JSON.parse(stored) as JsonObject)
}

const listTypes: Readonly<Record<string, ListType>> = {
  bulletList: 'bullet',
  orderedList: 'ordered',
  taskList: 'unchecked',
}

const listTypeOf = ({ name }: XmlElement, item: XmlElement): ListType =>
  attributeOf(item, 'checked') === 'true' ? 'checked' : (listTypes[name] ?? 'bullet')

/** Returns whether the last line of a text has no line break. Quill shows one at the end of every text. */
export const isOpen = ({ text }: FormattedText): boolean => !text.endsWith('\n')

/** Removes the line break at the end, unless it has attributes. */
export function withoutLastBreak(pieces: readonly QuillPiece[]): readonly QuillPiece[] {
  const last = pieces.at(-1)
  return last?.insert === '\n' && last.format === 0 ? pieces.slice(0, -1) : pieces
}

/**
 * Returns the text that consists of these pieces. Text that stays keeps the formatting that Markdown cannot
 * represent, unless it becomes code.
 */
export function targetFrom(pieces: Iterable<QuillPiece>, formats: FormatTable): FormattedTarget {
  const content = new FormattedTextBuilder(formats)
  /** Offsets at which code starts and ends, in turn. */
  const code: number[] = []
  for (const { insert, format, isCode = false } of pieces) {
    if (isCode !== (code.length % 2 === 1)) code.push(content.length)
    content.add(insert, format)
  }
  const { text, runs, embeds } = content
  const kept = new Map<string, number>()
  let next = 0
  const keptFormat = (from: number, to: number, targetAt: number): number => {
    while ((code[next] ?? Number.POSITIVE_INFINITY) <= targetAt) next += 1
    if (from === to || next % 2 === 1) return to
    const key = `${from} ${to}`
    return memoized(kept, key, () => withUnstated(formats, from, to))
  }
  return { text, runs, embeds, keptFormat }
}

/** Attributes that Markdown states, on texts, embeds and line breaks. */
const statedNames: ReadonlySet<string> = new Set(
  'bold italic strike code link alt blockquote code-block header indent list table'.split(' '),
)

/** Adds the attributes of stored text that Markdown cannot represent. */
function withUnstated(formats: FormatTable, from: number, to: number): number {
  const [stored, wanted] = [formats.get(from).attributes, formats.get(to).attributes]
  const unstated = Object.entries(stored).filter(([name]) => !statedNames.has(name))
  return formats.of(Object.fromEntries([...unstated, ...Object.entries(wanted)]))
}
