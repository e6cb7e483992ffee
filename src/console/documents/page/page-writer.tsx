import type { VNode } from 'preact'
import * as Y from 'yjs'
import { isKindEntry, type RootKind, type SharedRoot } from '../../../core/content/yjs/root-kind.ts'
import type { AuthorId, AuthorStyle } from '../authorship/authors.ts'
import { Added, Removed } from '../diff/diff-view.tsx'
import type { Caret } from '../live/awareness-users.ts'
import { blockOf, type LineForm, lineBlocks, markdownParts, type RunAttributes } from './blocks.ts'
import { CaretMark, classesOf } from './marks.tsx'
import type { Lens, Mark, Moments, Stamp } from './moments.ts'

/** A part of the page with one change. */
export interface Passage extends Pick<Stamp, 'inserter' | 'deleter'> {
  readonly id: string
  readonly text: string
  readonly mark: Mark
}

interface PageOptions {
  readonly moments: Moments
  readonly lens: Lens
  readonly styles: ReadonlyMap<AuthorId, AuthorStyle>
  /** Author whose passages are emphasized; undefined: all. */
  readonly only: AuthorId | undefined
  /** Id of the selected passage. */
  readonly selected: string | null
  readonly carets: ReadonlyMap<SharedRoot, readonly Caret[]>
  /** Maximum number of passages. */
  readonly limit: number
}

/** A part of a line. */
type Piece =
  | {
      readonly kind: 'text'
      readonly text: string
      readonly attributes: RunAttributes
      readonly passage: Omit<Passage, 'text'>
    }
  | { readonly kind: 'node'; readonly node: VNode; readonly isBlock: boolean }

/** Draws the content of a document as a page, with the color of the author of each passage. */
export class PageWriter {
  /** The passages in the order of the document. */
  readonly passages: Passage[] = []
  readonly #options: PageOptions

  constructor(options: PageOptions) {
    this.#options = options
  }

  /** True if passages were left out. */
  get isFull(): boolean {
    return this.passages.length >= this.#options.limit
  }

  root(root: SharedRoot, kind: RootKind): readonly VNode[] {
    if (kind === 'map') return [this.#members(root)]
    if (kind === 'array') return [this.#elements(root)]
    return kind === 'xml' ? this.#nodes(root) : this.#lines(root)
  }

  /** Yields the shown parts of a sequence. */
  *#shown(type: SharedRoot): Generator<{ item: Y.Item; stamp: Stamp; mark: Mark }> {
    for (let item = type._start; item !== null; item = item.right)
      for (const stamp of this.#options.moments.of(item)) {
        if (this.isFull) return
        const mark = this.#options.lens(stamp)
        if (mark !== null) yield { item, stamp, mark }
      }
  }

  /** Returns the shown values of an entry, the latest last. */
  #valuesOf(last: Y.Item): { item: Y.Item; stamp: Stamp; mark: Mark }[] {
    const values: { item: Y.Item; stamp: Stamp; mark: Mark }[] = []
    for (let item: Y.Item | null = last; item !== null; item = item.left)
      for (const stamp of [...this.#options.moments.of(item)].slice(-1)) {
        const mark = this.#options.lens(stamp)
        if (mark !== null) values.unshift({ item, stamp, mark })
      }
    return values
  }

  /** Returns the attributes of an element. */
  #attributes({ _map }: SharedRoot): RunAttributes {
    return Object.fromEntries(
      [..._map].flatMap(([name, last]) => {
        const value = this.#valuesOf(last).at(-1)?.item.content.getContent().at(-1)
        return value === undefined || value instanceof Y.AbstractType ? [] : [[name, value]]
      }),
    )
  }

  #nodes(type: SharedRoot): readonly VNode[] {
    const nodes: VNode[] = []
    for (const { item, stamp, mark } of this.#shown(type)) {
      const { content } = item
      if (!(content instanceof Y.ContentType)) continue
      if (content.type instanceof Y.XmlElement) nodes.push(this.#element(content.type, item, stamp, mark))
      else nodes.push(...this.#inline(this.#pieces(content.type)))
    }
    return nodes
  }

  #element(type: Y.XmlElement, item: Y.Item, stamp: Stamp, mark: Mark): VNode {
    const attributes = this.#attributes(type)
    const { tag: Tag, leaf, className } = blockOf(type.nodeName, attributes)
    if (Tag === 'hr' || Tag === 'br') return <Tag />
    if (leaf !== undefined) return this.#chip(leaf, item, stamp, mark)
    const isDone = attributes.checked === true || attributes.checked === 'true'
    return <Tag class={isDone ? `${className ?? ''} done` : className}>{this.#nodes(type)}</Tag>
  }

  /** Draws the lines of a text. Nested texts are blocks. */
  #lines(type: SharedRoot): readonly VNode[] {
    const lines = linesOf(this.#pieces(type))
    const blocks = lineBlocks(lines.map(({ pieces, attributes }) => ({ text: textOf(pieces), attributes })))
    return lines.map(({ pieces }, index) => this.#line(pieces, blocks[index] as LineForm))
  }

  #line(pieces: readonly Piece[], { tag: Tag, className, hidden, isMarkdown }: LineForm): VNode {
    const [only] = pieces
    if (pieces.length === 1 && only?.kind === 'node' && only.isBlock) return only.node
    const shown = isMarkdown ? styled(pieces, hidden) : pieces
    return <Tag class={className}>{this.#inline(shown)}</Tag>
  }

  #pieces(type: SharedRoot): readonly Piece[] {
    const pieces: Piece[] = []
    const carets = (this.#options.carets.get(type) ?? []).toSorted((a, b) => a.index - b.index)
    const caretsUpTo = (index: number): void => {
      while (carets[0] !== undefined && carets[0].index <= index)
        pieces.push(nodePiece(<CaretMark caret={carets.shift() as Caret} />))
    }
    let attributes: RunAttributes = {}
    let index = 0
    for (const { item, stamp, mark } of this.#shown(type)) {
      const { content } = item
      const { offset, length } = stamp
      if (content instanceof Y.ContentFormat) attributes = formatted(attributes, content)
      else if (content instanceof Y.ContentString) {
        const text = content.str.slice(offset, offset + length)
        for (let at = 0; at < length; ) {
          caretsUpTo(index + at)
          const end = Math.min(length, (carets[0]?.index ?? Number.POSITIVE_INFINITY) - index)
          const passage = passageOf(item, stamp, mark, at)
          pieces.push({ kind: 'text', text: text.slice(at, end), attributes, passage })
          at = end
        }
      } else pieces.push(...this.#embed(item, stamp, mark))
      if (item.countable && !item.deleted) index += length
    }
    caretsUpTo(Number.POSITIVE_INFINITY)
    return pieces
  }

  #embed(item: Y.Item, stamp: Stamp, mark: Mark): readonly Piece[] {
    const { content } = item
    if (!(content instanceof Y.ContentType)) {
      const [value] = content.getContent().slice(stamp.offset)
      return value === undefined ? [] : [nodePiece(this.#chip(plainText(value), item, stamp, mark))]
    }
    const { type } = content
    // The texts of Lexical are entries of a map, followed by their characters.
    if (type instanceof Y.Map) return this.#attributes(type).__type === 'linebreak' ? [nodePiece(<br />)] : []
    if (type instanceof Y.XmlElement) return [nodePiece(this.#element(type, item, stamp, mark))]
    if (!(type instanceof Y.Text)) return []
    const attributes = this.#attributes(type)
    const name = String(attributes.__type ?? attributes.type ?? 'paragraph')
    const { tag: Tag, className } = blockOf(name, attributes)
    if (Tag === 'hr' || Tag === 'br') return [nodePiece(<Tag />)]
    const node = <Tag class={className}>{this.#inline(this.#pieces(type))}</Tag>
    return [{ kind: 'node', node, isBlock: Tag !== 'span' }]
  }

  #members({ _map }: SharedRoot): VNode {
    const entries = [..._map].filter(([name]) => !isKindEntry(name)).toSorted(([a], [b]) => (a < b ? -1 : 1))
    return (
      <ul class="values">
        {entries.map(([name, last]) =>
          this.#valuesOf(last).map((value) => (
            <li key={`${name} ${value.item.id.clock}`}>
              <span class="name">{name}: </span>
              {this.#value(value)}
            </li>
          )),
        )}
      </ul>
    )
  }

  #elements(type: SharedRoot): VNode {
    const entries: VNode[] = []
    for (const { item, stamp, mark } of this.#shown(type)) {
      const length = item.countable ? stamp.length : 0
      for (let at = 0; at < length && !this.isFull; at++) {
        const part = { ...stamp, offset: stamp.offset + at }
        const key = `${item.id.client} ${item.id.clock + part.offset}`
        entries.push(<li key={key}>{this.#value({ item, stamp: part, mark })}</li>)
      }
    }
    return <ul class="values listed">{entries}</ul>
  }

  #value({ item, stamp, mark }: { item: Y.Item; stamp: Stamp; mark: Mark }): VNode | readonly VNode[] {
    const { content } = item
    if (!(content instanceof Y.ContentType)) {
      const value: unknown = content.getContent()[stamp.offset]
      return this.#chip(typeof value === 'string' ? value : plainText(value), item, stamp, mark)
    }
    const { type } = content
    if (type instanceof Y.Map) return this.#members(type)
    if (type instanceof Y.Text) return this.#lines(type)
    if (type instanceof Y.XmlElement) return this.#element(type, item, stamp, mark)
    return type instanceof Y.Array ? this.#elements(type) : this.#nodes(type)
  }

  /** Draws a value that is not part of the text of a line. */
  #chip(text: string, item: Y.Item, stamp: Stamp, mark: Mark): VNode {
    const passage = passageOf(item, stamp, mark, 0)
    return <>{this.#inline([{ kind: 'text', text, attributes: {}, passage }])}</>
  }

  #inline(pieces: readonly Piece[]): readonly VNode[] {
    return pieces.map((piece) => (piece.kind === 'node' ? piece.node : this.#run(piece)))
  }

  #run({ text, attributes, passage }: Extract<Piece, { kind: 'text' }>): VNode {
    const { only, selected, styles } = this.#options
    const author = passage.inserter?.userId ?? null
    this.passages.push({ ...passage, text })
    const classes = [
      'author',
      ...(only === undefined || only === author ? [] : ['dimmed']),
      ...(selected === passage.id ? ['selected'] : []),
      classesOf(attributes),
    ]
    const shown = (
      <span class={classes.join(' ').trim()} style={styles.get(author)} data-passage={passage.id}>
        {text}
      </span>
    )
    if (passage.mark === 'same') return shown
    return passage.mark === 'added' ? <Added text={shown} /> : <Removed text={shown} />
  }
}

const passageOf = (
  { id: { client, clock } }: Y.Item,
  { offset, inserter, deleter }: Stamp,
  mark: Mark,
  at: number,
): Omit<Passage, 'text'> => ({ id: `${client}:${clock + offset + at}`, inserter, deleter, mark })

function formatted(attributes: RunAttributes, { key, value }: Y.ContentFormat): RunAttributes {
  const { [key]: _, ...others } = attributes
  return value === null ? others : { ...others, [key]: value }
}

const nodePiece = (node: VNode): Piece => ({ kind: 'node', node, isBlock: false })

const valueMax = 2_000

const plainText = (value: unknown): string =>
  (value instanceof Uint8Array ? `${value.length} bytes` : (JSON.stringify(value) ?? '')).slice(0, valueMax)

const textOf = (pieces: readonly Piece[]): string =>
  pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('')

interface Line {
  readonly pieces: Piece[]
  /** The formats of the line break that ends the line. */
  attributes: RunAttributes
}

/** Divides pieces at line breaks, and around blocks. */
function linesOf(pieces: readonly Piece[]): readonly Line[] {
  const lines: Line[] = [{ pieces: [], attributes: {} }]
  const begin = (): void => void lines.push({ pieces: [], attributes: {} })
  for (const piece of pieces) {
    if (piece.kind === 'node') {
      if (piece.isBlock && lines.at(-1)?.pieces.length !== 0) begin()
      lines.at(-1)?.pieces.push(piece)
      if (piece.isBlock) begin()
      continue
    }
    for (const [at, text] of piece.text.split('\n').entries()) {
      if (at > 0) {
        ;(lines.at(-1) as Line).attributes = piece.attributes
        begin()
      }
      if (text !== '') lines.at(-1)?.pieces.push({ ...piece, text })
    }
  }
  if (lines.length > 1 && lines.at(-1)?.pieces.length === 0) lines.pop()
  return lines
}

/** Hides the marks of Markdown at the start of a line and around words, and formats the words. */
function styled(pieces: readonly Piece[], hidden: number): readonly Piece[] {
  const parts = markdownParts(textOf(pieces), hidden)
  const shown: Piece[] = []
  let start = 0
  for (const piece of pieces) {
    if (piece.kind === 'node') {
      shown.push(piece)
      continue
    }
    const end = start + piece.text.length
    for (const part of parts) {
      const [from, to] = [Math.max(start, part.start), Math.min(end, part.end)]
      if (from >= to) continue
      const text = piece.text.slice(from - start, to - start)
      shown.push({ ...piece, text, attributes: { ...piece.attributes, ...part.formats } })
    }
    start = end
  }
  return shown
}
