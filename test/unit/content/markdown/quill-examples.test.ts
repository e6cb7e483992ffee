import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { readRootAs } from '../../../../src/core/content/read-document.ts'
import { replaceContent } from '../../../../src/core/content/replace.ts'
import { unitsOf } from '../support.ts'
import { br, delta, deltaFrom, type Op, quillDoc, quillKey, read, write } from './quill-support.ts'

/** All blocks and marks that Markdown and Quill have in common. */
const article: Op[] = [
  { insert: 'Title' },
  br({ header: 1 }),
  { insert: 'plain ' },
  { insert: 'bold', attributes: { bold: true } },
  { insert: ', ' },
  { insert: 'italic', attributes: { italic: true } },
  { insert: ', ' },
  { insert: 'struck', attributes: { strike: true } },
  { insert: ', ' },
  { insert: 'code', attributes: { code: true } },
  { insert: ' and a ' },
  { insert: 'link', attributes: { link: 'https://example.com/a' } },
  { insert: '.\none' },
  br({ list: 'bullet' }),
  { insert: 'inner' },
  br({ list: 'ordered', indent: 1 }),
  { insert: 'two' },
  br({ list: 'bullet' }),
  { insert: 'open' },
  br({ list: 'unchecked' }),
  { insert: 'done' },
  br({ list: 'checked' }),
  { insert: 'said' },
  br({ blockquote: true }),
  { insert: 'more' },
  br({ blockquote: true }),
  { insert: 'let a' },
  br({ 'code-block': 'javascript' }),
  { insert: '  b' },
  br({ 'code-block': 'javascript' }),
  { insert: { image: '/a.png' }, attributes: { alt: 'An image' } },
  { insert: '\n' },
]

const markdown = `# Title

plain **bold**, *italic*, ~~struck~~, \`code\` and a [link](https://example.com/a).

- one
  1. inner
- two

* [ ] open
* [x] done

> said
>
> more

\`\`\`javascript
let a
  b
\`\`\`

![An image](/a.png)
`

/** Content of Quill that Markdown cannot represent, between content that it can. */
const rich: Op[] = [
  { insert: 'Title' },
  br({ header: 2, align: 'center' }),
  { insert: 'red', attributes: { color: '#ff0000', size: 'large' } },
  { insert: ' sum ' },
  { insert: { formula: 'x^2' }, attributes: { background: 'yellow' } },
  { insert: ' end\n' },
  { insert: { video: 'https://example.com/v' } },
  { insert: 'right' },
  br({ align: 'right', direction: 'rtl' }),
  { insert: 'a1' },
  br({ table: 'row-1' }),
  { insert: 'b1' },
  br({ table: 'row-1' }),
  { insert: '\n' },
  { insert: 'item' },
  br({ list: 'bullet', align: 'right', indent: 2 }),
  { insert: { image: '/a.png' }, attributes: { width: '30', alt: 'a' } },
  { insert: 'last' },
]

describe('stored form', () => {
  it('[FMT-120] reads and writes the blocks and the formatting of Quill', () => {
    expect(read(quillDoc(article))).toBe(markdown)
    expect(deltaFrom(markdown)).toEqual(article.slice(0, -1))
  })

  it('[FMT-121] writes blocks that Quill does not have as lines', () => {
    expect(deltaFrom('a\\\nb\n\n***\n\n> # c\n>\n> - d\n')).toEqual([
      { insert: 'a\nb\n---\nc' },
      br({ header: 1 }),
      { insert: 'd' },
      br({ list: 'bullet' }),
    ])
    expect(deltaFrom('- a\\\n  b\n\n  c\n- d\n\n| e |\n| - |\n')).toEqual([
      { insert: 'a b' },
      br({ list: 'bullet' }),
      { insert: 'c\nd' },
      br({ list: 'bullet' }),
      { insert: '| e | | - |' },
    ])
  })

  it('[FMT-121] nests lists at most as deeply as Quill', () => {
    const lines = Array.from({ length: 12 }, (_, depth) => `${'  '.repeat(depth)}- x\n`)
    const indents = (deltaFrom(lines.join('')) as Op[]).flatMap(({ attributes }) =>
      attributes === undefined ? [] : [attributes.indent ?? 0],
    )
    expect(indents).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8])
  })

  it('[FMT-122] keeps a missing line break at the end missing, unless the last line has attributes', () => {
    const doc = quillDoc([{ insert: 'a' }])
    write(doc, 'a\n\nb\n')
    expect(delta(doc)).toEqual([{ insert: 'a\nb' }])
    write(doc, 'a\n\n# b\n')
    expect(delta(doc)).toEqual([{ insert: 'a\nb' }, br({ header: 1 })])
    const closed = quillDoc([{ insert: 'a\n' }])
    write(closed, 'a\n\nb\n')
    expect(delta(closed)).toEqual([{ insert: 'a\nb\n' }])
  })

  it('[FMT-123] chooses Quill in an empty root by the name of the root', () => {
    const doc = new Y.Doc()
    for (const contentKey of ['quill', 'other'])
      replaceContent(doc, { type: 'markdown', contentKey, data: '# a\n' })
    expect(readRootAs(doc, 'delta', 'quill').data).toEqual([{ insert: 'a' }, br({ header: 1 })])
    expect(readRootAs(doc, 'xml', 'other').data).toBe('<heading level="1">a</heading>')
  })

  it('[FMT-124] treats a text without formatting as Markdown source, unless its name is that of Quill', () => {
    const source = '# a *b*\n1) c\n'
    const doc = quillDoc([{ insert: source }], 'content')
    expect(read(doc, 'content')).toBe(source)
    expect(write(doc, source, 'content')).toEqual([])
    write(doc, '# a **b**\n1) c\n', 'content')
    expect(delta(doc, 'content')).toEqual([{ insert: '# a **b**\n1) c\n' }])
    expect(read(quillDoc([{ insert: '# a\n' }]))).toBe('\\# a\n')
    const formatted = quillDoc([{ insert: '# a', attributes: { bold: true } }], 'content')
    expect(read(formatted, 'content')).toBe('**# a**\n')
  })
})

describe('other roots', () => {
  it('[FMT-132] rejects Markdown in roots of Lexical and Slate, and does not choose them for an empty root', () => {
    const doc = new Y.Doc()
    const paragraph = new Y.XmlText()
    paragraph.setAttribute('__type', 'paragraph')
    doc.get('root', Y.XmlText).insertEmbed(0, paragraph)
    const before = Y.encodeStateAsUpdate(doc)
    expect(() => write(doc, '# a', 'root')).toThrow('Markdown is not supported for Lexical and Slate')
    expect(() => read(doc, 'root')).toThrow('Markdown is not supported for Lexical and Slate')
    expect(Y.encodeStateAsUpdate(doc)).toEqual(before)
    const empty = new Y.Doc()
    write(empty, '# a', 'root')
    expect(readRootAs(empty, 'xml', 'root').data).toBe('<heading level="1">a</heading>')
  })
})

describe('content that stays', () => {
  it('[FMT-125] writes nothing when the result of a read is written back', () => {
    for (const ops of [article, rich, [], [{ insert: '\n\n' }], [{ insert: ' a\t\n' }]] as Op[][]) {
      const doc = quillDoc(ops)
      expect(write(doc, read(doc))).toEqual([])
    }
  })

  it('[FMT-125] reads and writes a text of 150,000 empty lines', () => {
    const doc = quillDoc([{ insert: '\n'.repeat(150_000) }])
    expect(read(doc)).toBe('')
    // Content takes the place of the empty lines of an empty document.
    write(doc, 'a')
    expect(delta(doc)).toEqual([{ insert: 'a\n' }])
  })

  it('[FMT-126] shows what Markdown cannot represent as placeholders, which can be removed', () => {
    const doc = quillDoc(rich)
    expect(read(doc).replace(/1-\d+/g, 'ID')).toBe(
      '## Title\n\nred sum ![formula](weft-inline:ID) end\n\n```weft-block ID video\n```\n\nright\n\n' +
        '```weft-block ID table\n```\n\n- item\n\n![a](/a.png)last\n',
    )
    const text = read(doc)
    write(doc, text.replace(/```weft-block .* table\n```\n\n/, '').replace(' sum ', ' difference '))
    const changed = rich
      .filter(({ attributes }) => attributes?.table === undefined)
      // The empty line after the table goes with it.
      .filter(
        ({ insert, attributes }) => !['a1', 'b1'].includes(String(insert)) && (insert !== '\n' || attributes),
      )
      .map((op) => (op.insert === ' sum ' ? { insert: ' difference ' } : op))
    expect(delta(doc)).toEqual(changed)
    expect(() => write(doc, 'a ![x](weft-inline:9-9)')).toThrow('a placeholder at line 1')
  })

  it('[FMT-127] keeps formatting that Markdown cannot represent on text and lines that stay', () => {
    const doc = quillDoc(rich)
    write(
      doc,
      read(doc).replace('## Title', '# Title').replace('red', '**red** dish').replace('- item', '1. item'),
    )
    const ops = delta(doc) as Op[]
    expect(ops.slice(0, 4)).toEqual([
      { insert: 'Title' },
      br({ header: 1, align: 'center' }),
      { insert: 'red', attributes: { color: '#ff0000', size: 'large', bold: true } },
      { insert: ' dish sum ' },
    ])
    expect(ops).toContainEqual(br({ list: 'ordered', align: 'right' }))
  })

  it('[FMT-128] changes only the characters of the text that has changed', () => {
    const doc = quillDoc(article)
    const before = unitsOf(doc, quillKey)
    write(doc, markdown.replace('two', 'twos').replace('said', 'says'))
    const after = unitsOf(doc, quillKey)
    const added = after.filter(({ id }) => !before.some((unit) => unit.id === id))
    expect(added.map(({ value }) => value).join('')).toBe('sys')
    expect(after.length).toBe(before.length + 1)
  })

  it('[FMT-128] turns a line into another block and keeps its characters', () => {
    const doc = quillDoc([{ insert: 'one\ntwo\nthree\n' }])
    const before = unitsOf(doc, quillKey).map(({ id }) => id)
    write(doc, 'one\n\n- two\n\nthree\n')
    expect(unitsOf(doc, quillKey).map(({ id }) => id)).toEqual(before)
    expect(delta(doc)).toEqual([{ insert: 'one\ntwo' }, br({ list: 'bullet' }), { insert: 'three\n' }])
  })
})
