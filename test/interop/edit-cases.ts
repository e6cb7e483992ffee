import * as Y from 'yjs'
import type { EditRequest, TargetRequest } from '../../src/core/content/edit/check-edits.ts'
import { readRootAs } from '../../src/core/content/read-document.ts'
import { replaceContent } from '../../src/core/content/replace.ts'
import type { SharedRoot } from '../../src/core/content/yjs/root-kind.ts'
import type { Random } from '../support/data/random-doc.ts'
import { joinedLines } from './shown-lines.ts'
import type { Judge } from './third-party-editor.ts'

/** Formats, formatting and attributes that an editor knows. */
interface EditVocabulary {
  readonly formats: readonly string[]
  readonly marks: readonly (readonly [name: string, value: unknown])[]
  /** Attributes for headings; null if the editor has no headings. */
  readonly heading: Readonly<Record<string, unknown>> | null
  /** The preset that describes the editor with all its nodes; null if there is none. */
  readonly schema: string | null
}

export const vocabularies: Readonly<Record<string, EditVocabulary>> = {
  Tiptap: {
    formats: ['markdown', 'html', 'prosemirror', 'xml'],
    marks: [
      ['bold', {}],
      ['link', { href: '/new' }],
      ['textStyle', { color: '#00ff00' }],
      ['bold', null],
      ['italic', null],
    ],
    heading: { level: 4 },
    schema: 'tiptap',
  },
  ProseMirror: {
    formats: ['markdown', 'html', 'prosemirror', 'xml'],
    marks: [
      ['strong', {}],
      ['link', { href: '/new', title: null }],
      ['comment', { id: 'c9', orphan: false }],
      ['em', null],
    ],
    heading: { level: 4 },
    schema: null,
  },
  BlockNote: {
    formats: ['prosemirror', 'xml'],
    marks: [
      ['bold', true],
      ['textColor', { stringValue: 'blue' }],
      ['italic', null],
    ],
    heading: { level: 3 },
    schema: 'blocknote',
  },
  Quill: {
    formats: [],
    marks: [
      ['bold', true],
      ['color', '#00ff00'],
      ['link', '/new'],
      ['bold', null],
    ],
    heading: { header: 3 },
    schema: 'quill',
  },
  Lexical: {
    formats: [],
    marks: [
      ['bold', true],
      ['code', true],
      ['bold', null],
    ],
    heading: null,
    schema: 'lexical',
  },
  Slate: {
    formats: [],
    marks: [
      ['bold', true],
      ['color', 'blue'],
      ['bold', null],
    ],
    heading: { level: 3 },
    schema: 'slate',
  },
}

/** An edit, and its effect on the lines that the editor shows. */
export interface EditCase {
  readonly edit: EditRequest
  readonly effect: EditEffect
}

type EditEffect =
  /** The first line that contains the quote changes as a string. */
  | { readonly is: 'inLine'; readonly quote: string; readonly becomes: string }
  /** New lines at one place. If `replaces`, they take the place of adjacent lines. */
  | { readonly is: 'lines'; readonly lines: readonly string[]; readonly replaces: boolean }
  /** Text before the first line, as a part of it. */
  | { readonly is: 'start'; readonly text: string }
  | { readonly is: 'none' }

/** Content in a format, with the lines that an editor shows for it. */
interface NewContent {
  readonly content: unknown
  readonly format: string
  readonly lines: readonly string[]
}

const plain = (content: string, format?: string, ...lines: string[]): NewContent => ({
  content,
  format: format ?? 'text',
  lines: format === undefined ? content.split('\n') : lines,
})

const textParts: readonly NewContent[] = [plain('new'), plain('new words '), plain(' – 漢字 😀'), plain('x')]

const inlineParts: Readonly<Record<string, readonly NewContent[]>> = {
  markdown: [
    plain('new **bold** words', 'markdown', 'new bold words'),
    plain('`code` and *it*', 'markdown', 'code and it'),
    plain('a [link](/l) here', 'markdown', 'a link here'),
  ],
  html: [plain('new <b>bold</b>', 'html', 'new bold'), plain('<em>x</em>', 'html', 'x')],
}

const textBlocks: readonly NewContent[] = [plain('one line'), plain('two\nlines'), plain('a\n\nb')]

const blockParts: Readonly<Record<string, readonly NewContent[]>> = {
  markdown: [
    plain('## New heading\n\nText with **bold**.', 'markdown', 'New heading', 'Text with bold.'),
    plain('- a\n- b\n  - c\n', 'markdown', 'a', 'b', 'c'),
    plain('3. three\n4. four', 'markdown', 'three', 'four'),
    plain('> quoted\n>\n> more', 'markdown', 'quoted', 'more'),
    plain('```js\nlet a = 1\n```', 'markdown', 'let a = 1'),
    plain('one\n\ntwo', 'markdown', 'one', 'two'),
    plain('---', 'markdown'),
  ],
  html: [
    plain('<h2>New heading</h2><p>Text with <b>bold</b>.</p>', 'html', 'New heading', 'Text with bold.'),
    plain('<ul><li>a<li>b</ul>', 'html', 'a', 'b'),
    plain('<blockquote><p>q</p></blockquote>', 'html', 'q'),
    plain('<pre><code>a\n b</code></pre>', 'html', 'a', ' b'),
    plain('<p>a</p><p></p><hr>', 'html', 'a'),
  ],
}

/** Makes random edits of documents of an editor. */
export class EditCases {
  readonly #random: Random
  readonly #judge: Judge
  readonly #vocabulary: EditVocabulary
  /** Top nodes of content of the editor, as ProseMirror JSON. */
  readonly #nodes: readonly unknown[]

  /** @param samples documents of the editor, whose nodes are inserted into other documents */
  constructor(random: Random, judge: Judge, vocabulary: EditVocabulary, samples: readonly Y.Doc[]) {
    this.#random = random
    this.#judge = judge
    this.#vocabulary = vocabulary
    this.#nodes = vocabulary.formats.includes('prosemirror')
      ? samples.flatMap((doc) => topNodes(readRootAs(doc, 'prosemirror', judge.contentKey).data))
      : []
  }

  next(doc: Y.Doc): EditCase {
    const texts = textsIn(doc, this.#judge.contentKey)
    const make = this.#random.pick([
      this.#replace,
      this.#replaceBlock,
      this.#insert,
      this.#insertBlocks,
      this.#insertBlocks,
      this.#remove,
      this.#removeBlock,
      this.#mark,
      this.#attributes,
    ])
    return make(texts)
  }

  #replace = (texts: readonly string[]): EditCase => {
    const quote = this.#quote(texts)
    const { lines, ...content } = this.#inline()
    const { content: text, ...format } = content
    const find = { quote, occurrence: 1 }
    return {
      edit: { replace: { find, with: text, ...format } },
      effect: { is: 'inLine', quote, becomes: lines.join('\n') },
    }
  }

  #replaceBlock = (): EditCase => {
    const { lines, content, ...format } = this.#blocks()
    return {
      edit: { replace: { find: this.#block(), with: content, ...format } },
      effect: { is: 'lines', lines, replaces: true },
    }
  }

  #insert = (texts: readonly string[]): EditCase => {
    const quote = this.#quote(texts)
    const { lines, ...content } = this.#inline()
    const place = this.#random.pick(['before', 'after', 'into'])
    const added = lines.join('\n')
    return {
      edit: { insert: { [place]: { quote, occurrence: 1 }, ...content } },
      effect: { is: 'inLine', quote, becomes: place === 'before' ? added + quote : quote + added },
    }
  }

  #insertBlocks = (texts: readonly string[]): EditCase => {
    const { lines, ...content } = this.#blocks()
    const place = this.#random.pick(['before', 'after', 'section', 'at'])
    const at =
      place === 'at'
        ? { at: this.#random.pick(['start', 'end']) }
        : place === 'section'
          ? { [this.#random.pick(['into', 'after'])]: this.#heading(texts) }
          : { [place]: this.#block() }
    const isText = this.#judge.type === 'delta' && 'at' in at && at.at === 'start'
    const effect = isText
      ? ({ is: 'start', text: lines.join('\n') } as const)
      : ({ is: 'lines', lines, replaces: false } as const)
    return { edit: { insert: { ...at, ...content } }, effect }
  }

  #remove = (texts: readonly string[]): EditCase => {
    const quote = this.#quote(texts)
    return {
      edit: { remove: { target: { quote, occurrence: 1 } } },
      effect: { is: 'inLine', quote, becomes: '' },
    }
  }

  #removeBlock = (texts: readonly string[]): EditCase => ({
    edit: { remove: { target: this.#random.pick([this.#block(), this.#heading(texts)]) } },
    effect: { is: 'lines', lines: [], replaces: true },
  })

  #mark = (texts: readonly string[]): EditCase => {
    const [name, value] = this.#random.pick(this.#vocabulary.marks)
    const find = { quote: this.#quote(texts), occurrence: 1 }
    return { edit: { mark: { find, name, value } }, effect: { is: 'none' } }
  }

  #attributes = (texts: readonly string[]): EditCase => {
    const { heading } = this.#vocabulary
    if (heading === null) return this.#mark(texts)
    const set = { ...heading }
    return { edit: { attributes: { target: this.#heading(texts), set } }, effect: { is: 'none' } }
  }

  #inline(): NewContent {
    return this.#random.pick(inlineParts[this.#format()] ?? textParts)
  }

  #blocks(): NewContent {
    const format = this.#format()
    if (format !== 'prosemirror' && format !== 'xml')
      return this.#random.pick(blockParts[format] ?? textBlocks)
    const content = [this.#random.pick(this.#nodes)]
    const lines = joinedLines(content)
    if (format === 'prosemirror') return { content, format, lines }
    const { contentKey } = this.#judge
    const doc = new Y.Doc()
    replaceContent(doc, { type: 'prosemirror', contentKey, data: content })
    return { content: readRootAs(doc, 'xml', contentKey).data, format, lines }
  }

  #format = (): string => this.#random.pick(['text', ...this.#vocabulary.formats])

  #block = (): TargetRequest => ({ block: this.#random.below(12) })

  #heading = (texts: readonly string[]): TargetRequest => ({ heading: texts[0] ?? 'none' })

  /** Returns one to three adjacent words. */
  #quote(texts: readonly string[]): string {
    const text = texts.length === 0 ? 'none' : this.#random.pick(texts)
    const words = text.split(/\s+/).filter((word) => word !== '')
    const start = this.#random.below(words.length)
    const quote = words.slice(start, start + 1 + this.#random.below(3)).join(' ')
    return text.includes(quote) ? quote : (words[start] as string)
  }
}

/** Returns the texts of a root, in order: each shared text without its embedded values. */
function textsIn(doc: Y.Doc, key: string): string[] {
  const texts: string[] = []
  const visit = (type: SharedRoot): void => {
    let text = ''
    for (let item = type._start; item !== null; item = item.right) {
      if (item.deleted) continue
      if (item.content instanceof Y.ContentString) text += item.content.str
      else if (item.content instanceof Y.ContentType) visit(item.content.type)
    }
    texts.push(...text.split('\n'))
  }
  const root = doc.share.get(key)
  if (root !== undefined) visit(root)
  return texts.filter((text) => text.trim() !== '')
}

interface JsonNode {
  readonly type?: string
  readonly content?: readonly JsonNode[]
}

/** Returns the top nodes of a document; in BlockNote, the containers of blocks. */
const topNodes = (data: unknown): readonly unknown[] =>
  ((data as JsonNode).content ?? []).flatMap((node) =>
    node.type === 'blockGroup' ? (node.content ?? []) : [node],
  )
