import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { ApiError } from '../../../../src/core/base/errors.ts'
import { readRootAs } from '../../../../src/core/content/read-document.ts'
import { checkChange, type RootChange } from '../../../../src/core/content/root-change.ts'
import type { NamedSchema } from '../../../../src/core/content/schemas/content-schema.ts'
import type { SchemaSpec } from '../../../../src/core/content/schemas/schema-spec.ts'
import { updatesOf } from '../support.ts'

function rejection(act: () => unknown): ApiError {
  try {
    act()
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('the call was accepted')
}

const contentKey = 'default'
const tiptap: NamedSchema = { name: 'tiptap', spec: null }

const own: SchemaSpec = {
  nodes: {
    doc: { content: 'block+' },
    paragraph: { content: 'inline*', group: 'block' },
    chart: { group: 'block', attributes: { rows: { default: 0 }, title: { default: 'Chart' } } },
    hardBreak: { group: 'inline', inline: true },
    text: { group: 'inline' },
  },
  marks: {
    spoiler: { attributes: { id: {}, depth: { default: 1 } } },
    note: { excludes: '', attributes: { id: {} } },
  },
}

const plainHeadings: SchemaSpec = {
  nodes: {
    doc: { content: 'block+' },
    paragraph: { content: 'text*', group: 'block', attributes: { textAlign: { default: null } } },
    heading: { content: 'text*', group: 'block', marks: '', attributes: { level: { default: 1 } } },
    text: {},
  },
  marks: { underline: {} },
}

type Content = { readonly type: string; readonly data: unknown }

const change = (doc: Y.Doc, content: Content, schema: NamedSchema = tiptap) => {
  const target: RootChange = { ...content, contentKey, schema }
  return checkChange(target).apply(doc)
}

function written(content: Content, schema?: NamedSchema): Y.Doc {
  const doc = new Y.Doc()
  change(doc, content, schema)
  return doc
}

const nodesOf = (doc: Y.Doc): unknown =>
  (readRootAs(doc, 'prosemirror', contentKey).data as { content: unknown }).content

test.each([
  [tiptap, '<heading level="1" textAlign="center">one <underline>two</underline></heading>'],
  [{ name: 'plain', spec: plainHeadings }, '<heading level="1">one two</heading>'],
])('[FMT-5] keeps the attributes and marks that a new kind of block can have (%#)', (schema, wanted) => {
  const doc = new Y.Doc()
  const data = '<paragraph textAlign="center">one <underline>two</underline></paragraph>'
  change(doc, { type: 'xml', data }, schema)
  change(doc, { type: 'markdown', data: '# one two' }, schema)
  expect(readRootAs(doc, 'xml', contentKey).data).toBe(wanted)
})

/** Returns the first link in a block, in its stored form. */
function linkIn(doc: Y.Doc): unknown {
  const blocks = doc.getXmlFragment(contentKey).toArray() as Y.XmlElement[]
  const texts = blocks.flatMap((block) => block.toArray() as Y.XmlText[])
  const operations = texts.flatMap((text) => text.toDelta() as { attributes?: Record<string, unknown> }[])
  return operations.find(({ attributes }) => attributes?.link !== undefined)?.attributes?.link
}

const wholeLink = {
  href: '/a',
  target: '_blank',
  rel: 'noopener noreferrer nofollow',
  class: null,
  title: null,
}

test.each<Content>([
  { type: 'markdown', data: 'see [it](/a)' },
  { type: 'html', data: '<p>see <a href="/a">it</a></p>' },
  { type: 'xml', data: '<paragraph>see <link href="/a">it</link></paragraph>' },
  {
    type: 'prosemirror',
    data: [
      {
        type: 'paragraph',
        content: [
          { type: 'text', text: 'see ' },
          { type: 'text', text: 'it', marks: [{ type: 'link', attrs: { href: '/a' } }] },
        ],
      },
    ],
  },
])('[FMT-150] stores a new link with all attributes of the editor when the type is $type', (content) => {
  const doc = written(content)
  expect(Object.entries(linkIn(doc) as object)).toEqual(Object.entries(wholeLink))
  expect(updatesOf(doc, () => change(doc, content))).toEqual([])
})

test('[FMT-150] stores a new link of an edit with all attributes of the editor', () => {
  const doc = written({ type: 'markdown', data: 'see it' })
  const edits = [{ mark: { find: 'it', name: 'link', value: { href: '/a' } } }]
  checkChange({ contentKey, edits, schema: tiptap }).apply(doc)
  expect(linkIn(doc)).toEqual(wholeLink)
  const more = [{ insert: { at: 'start', format: 'markdown', content: '[b](/a)' } }]
  checkChange({ contentKey, edits: more, schema: tiptap }).apply(doc)
  expect(linkIn(doc)).toEqual(wholeLink)
})

test('[FMT-150] stores new nodes with the defaults of the editor that are not null', () => {
  const doc = written({
    type: 'xml',
    data: '<heading>a</heading><orderedList><listItem><paragraph/></listItem></orderedList>',
  })
  expect(nodesOf(doc)).toMatchObject([
    { type: 'heading', attrs: { level: 1 } },
    { type: 'orderedList', attrs: { start: 1 } },
  ])
  const edits = [{ insert: { at: 'end', format: 'xml', content: '<heading>b</heading>' } }]
  checkChange({ contentKey, edits, schema: tiptap }).apply(doc)
  expect(nodesOf(doc)).toMatchObject([{}, {}, { type: 'heading', attrs: { level: 1 } }])
})

test('[FMT-150] gives each new block of BlockNote an id, and keeps it when the content has none', () => {
  const write = (doc: Y.Doc, texts: string): unknown => {
    const blocks = texts
      .split(' ')
      .map((text) => `<blockContainer><paragraph>${text}</paragraph></blockContainer>`)
    const data = `<blockGroup>${blocks.join('')}</blockGroup>`
    const schema = { name: 'blocknote', spec: null }
    return checkChange({ type: 'xml', contentKey: 'document-store', data, schema }).apply(doc)
  }
  const idsIn = (doc: Y.Doc): (string | undefined)[] => {
    const [group] = doc.getXmlFragment('document-store').toArray() as Y.XmlElement[]
    return ((group?.toArray() ?? []) as Y.XmlElement[]).map((block) => block.getAttribute('id'))
  }
  const doc = new Y.Doc()
  write(doc, 'one two')
  const ids = idsIn(doc)
  expect(new Set(ids).size).toBe(2)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/)
  expect(updatesOf(doc, () => write(doc, 'one two'))).toEqual([])
  write(doc, 'one second')
  expect(idsIn(doc)).toEqual(ids)
})

test('[FMT-151] keeps nodes and marks that have no defaults when they stay', () => {
  const source = '<heading>a</heading><paragraph>see <link href="/a">it</link></paragraph>'
  const doc = new Y.Doc()
  checkChange({ type: 'xml', contentKey, data: source }).apply(doc)
  for (const type of ['xml', 'html', 'markdown', 'prosemirror']) {
    const { data } = readRootAs(doc, type, contentKey)
    expect(updatesOf(doc, () => change(doc, { type, data }))).toEqual([])
  }
  change(doc, { type: 'xml', data: source.replace('see', 'look at') })
  expect(linkIn(doc)).toEqual({ href: '/a' })
})

test('[FMT-151] writes nothing when a caller repeats content without the defaults', () => {
  const content = {
    type: 'xml',
    data: '<heading>a</heading><paragraph>see <link href="/a">it</link></paragraph>',
  }
  const doc = written(content)
  expect(updatesOf(doc, () => change(doc, content))).toEqual([])
  change(doc, { ...content, data: content.data.replace('<heading>', '<heading level="3">') })
  change(doc, content)
  expect(nodesOf(doc)).toMatchObject([{ type: 'heading', attrs: { level: 1 } }, {}])
})

test.each(['markdown', 'html'])(
  '[FMT-152] keeps the marks that the editor keeps when the type is %s',
  (type) => {
    const data = type === 'markdown' ? 'a **b `c`** d' : '<p>a <b>b <code>c</code></b> d</p>'
    const doc = written({ type, data })
    expect(nodesOf(doc)).toEqual([
      {
        type: 'paragraph',
        content: [
          { type: 'text', text: 'a ' },
          { type: 'text', text: 'b ', marks: [{ type: 'bold' }] },
          { type: 'text', text: 'c', marks: [{ type: 'code' }] },
          { type: 'text', text: ' d' },
        ],
      },
    ])
    expect(updatesOf(doc, () => change(doc, { type, data }))).toEqual([])
  },
)

test('[FMT-152] removes a mark that the editor removes when the text that has it becomes code', () => {
  const doc = written({
    type: 'prosemirror',
    data: [{ type: 'paragraph', content: [{ type: 'text', text: 'a', marks: [{ type: 'highlight' }] }] }],
  })
  change(doc, { type: 'markdown', data: '`a`' })
  expect(nodesOf(doc)).toMatchObject([{ content: [{ marks: [{ type: 'code' }] }] }])
  const edits = [{ mark: { find: 'a', name: 'code', value: true } }]
  const bold = written({ type: 'markdown', data: '**a**' })
  checkChange({ contentKey, edits, schema: tiptap }).apply(bold)
  expect(nodesOf(bold)).toEqual([
    { type: 'paragraph', content: [{ type: 'text', text: 'a', marks: [{ type: 'code' }] }] },
  ])
})

test('[FMT-152] leaves out attributes that the editor does not have when they come from Markdown', () => {
  const doc = written({ type: 'markdown', data: '```js\na\n```' }, { name: 'prosemirror', spec: null })
  expect(nodesOf(doc)).toEqual([{ type: 'code_block', content: [{ type: 'text', text: 'a' }] }])
  expect(nodesOf(written({ type: 'markdown', data: '[![b](/b.png)](/a)' }))).toMatchObject([
    { type: 'image', attrs: { src: '/b.png', alt: 'b' } },
  ])
})

test('[FMT-152] rejects marks that exclude each other when the caller states them in XML', () => {
  const { details } = rejection(() =>
    written({ type: 'xml', data: '<paragraph><bold><code>a</code></bold></paragraph>' }),
  )
  expect(details).toMatchObject({ problem: 'the marks "bold" and "code" exclude each other' })
})

test('[FMT-153] reads names and types of attributes as the schema states them', () => {
  const data =
    '<paragraph><spoiler id="2">a</spoiler><note id="x">b</note></paragraph><chart rows="5"/><chart/>'
  const doc = written({ type: 'xml', data }, { name: 'own', spec: own })
  expect(nodesOf(doc)).toEqual([
    {
      type: 'paragraph',
      content: [
        { type: 'text', text: 'a', marks: [{ type: 'spoiler', attrs: { id: '2', depth: 1 } }] },
        { type: 'text', text: 'b', marks: [{ type: 'note', attrs: { id: 'x' } }] },
      ],
    },
    { type: 'chart', attrs: { rows: 5, title: 'Chart' } },
    { type: 'chart', attrs: { rows: 0, title: 'Chart' } },
  ])
})

test('[FMT-153] chooses the names of Markdown by the schema', () => {
  const doc = written({ type: 'markdown', data: '1. **a**' }, { name: 'prosemirror', spec: null })
  expect(nodesOf(doc)).toMatchObject([
    {
      type: 'ordered_list',
      content: [{ type: 'list_item', content: [{ content: [{ marks: [{ type: 'strong' }] }] }] }],
    },
  ])
})

test('[FMT-154] keeps underlined, subscript and superscript text of HTML when the schema has these marks', () => {
  const data = '<p>H<sub>2</sub>O <u>is</u> m<sup>3</sup></p>'
  const doc = written({ type: 'html', data })
  expect(readRootAs(doc, 'html', contentKey).data).toBe(data)
  expect(readRootAs(doc, 'markdown', contentKey).data).toBe('H2O is m3\n')
  change(doc, { type: 'markdown', data: 'H2O is in m3' })
  expect(readRootAs(doc, 'html', contentKey).data).toBe(data.replace(' m', ' in m'))
  change(doc, { type: 'html', data: data.replace(/<.?sub>/g, '') })
  expect(readRootAs(doc, 'html', contentKey).data).toBe('<p>H2O <u>is</u> m<sup>3</sup></p>')
})

test('[FMT-154] keeps such text without a schema when the document has the mark', () => {
  const doc = new Y.Doc()
  const write = (type: string, data: unknown): unknown => checkChange({ type, contentKey, data }).apply(doc)
  write('html', '<p><u>a</u> b</p>')
  expect(readRootAs(doc, 'html', contentKey).data).toBe('<p>a b</p>')
  write('xml', '<paragraph><underline>a</underline> b</paragraph>')
  write('html', '<p><u>a</u> <u>b</u></p>')
  expect(readRootAs(doc, 'html', contentKey).data).toBe('<p><u>a</u> <u>b</u></p>')
})

test('[FMT-155] rejects content when the defaults of the schema make it too large', () => {
  const spec: SchemaSpec = {
    nodes: {
      doc: { content: 'block*' },
      block: { group: 'block', attributes: { filler: { default: 'x'.repeat(200_000) } } },
      text: {},
    },
  }
  const data = '<block/>'.repeat(1_000)
  expect(rejection(() => written({ type: 'xml', data }, { name: 'own', spec })).message).toMatch(
    'the defaults of the schema add at most',
  )
})

test('[FMT-94] keeps an attribute of a mark null when Markdown changes the mark', () => {
  const doc = new Y.Doc()
  const schema = { name: 'tiptap', spec: null }
  const link = { type: 'link', attrs: { href: '/x', target: null } }
  const content = [{ type: 'paragraph', content: [{ type: 'text', text: 'a', marks: [link] }] }]
  const contentKey = 'default'
  checkChange({ type: 'prosemirror', contentKey, data: { type: 'doc', content }, schema }).apply(doc)
  checkChange({ type: 'markdown', contentKey, data: '[a](/z)\n', schema }).apply(doc)
  expect(JSON.stringify(readRootAs(doc, 'prosemirror', contentKey).data)).toContain('"href":"/z"')
  expect(JSON.stringify(readRootAs(doc, 'prosemirror', contentKey).data)).toContain('"target":null')
})
