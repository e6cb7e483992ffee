import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { replaceContent } from '../../../../src/core/content/replace.ts'
import { loaded, updatesOf } from '../support.ts'
import { element, identities, made, plainKey, refusal, storedOf, text } from '../xml-support.ts'
import { readJson, write } from './prosemirror-support.ts'

const paragraph = (...content: unknown[]) => ({ type: 'paragraph', content })
const plain = (content: string) => ({ type: 'text', text: content })
const docOf = (...content: unknown[]) => ({ type: 'doc', content })

function written(data: unknown): Y.Doc {
  const author = new Y.Doc()
  author.clientID = 1
  write(author, data)
  return loaded(author)
}

const table = {
  type: 'tableCell',
  attrs: { colspan: 1, colwidth: [120, null], open: false, label: '1', meta: { b: [true, 'x'], a: 1.5 } },
}

test('[FMT-40] stores a document in the form of y-prosemirror when the root is empty', () => {
  const doc = written(
    docOf(
      { type: 'heading', attrs: { level: 2, id: null }, content: [plain('Risks')] },
      paragraph(plain('a '), {
        type: 'text',
        text: 'b',
        marks: [{ type: 'bold' }, { type: 'link', attrs: { href: '/x', class: null } }],
      }),
      paragraph(),
    ),
  )
  expect(storedOf(doc)).toEqual([
    { name: 'heading', attributes: { level: 2 }, children: [{ text: [{ insert: 'Risks' }] }] },
    {
      name: 'paragraph',
      attributes: {},
      children: [
        {
          text: [
            { insert: 'a ' },
            { insert: 'b', attributes: { bold: {}, link: { href: '/x', class: null } } },
          ],
        },
      ],
    },
    { name: 'paragraph', attributes: {}, children: [] },
  ])
})

test('[FMT-40] accepts an array of nodes and reads it as a document', () => {
  const doc = written([paragraph(plain('one')), { type: 'horizontalRule' }])
  expect(readJson(doc)).toEqual(docOf(paragraph(plain('one')), { type: 'horizontalRule' }))
  expect(write(doc, [])).toMatchObject({ changed: true })
  expect(readJson(doc)).toEqual(docOf())
})

test('[FMT-40] joins adjacent texts with the same marks and drops empty texts', () => {
  const bold = { type: 'text', text: 'b', marks: [{ type: 'bold' }] }
  const doc = written(docOf(paragraph(plain('a'), plain(''), plain('c'), bold, bold)))
  expect(readJson(doc)).toEqual(docOf(paragraph(plain('ac'), { ...bold, text: 'bb' })))
})

test('[FMT-41] keeps the types of attributes of nodes and marks', () => {
  const mark = { type: 'comment', attrs: { id: 7, resolved: false, tags: ['a'], by: null } }
  const data = docOf(table, paragraph({ ...plain('x'), marks: [mark] }))
  const doc = written(data)
  expect(readJson(doc)).toEqual(data)
  expect(storedOf(doc)[0]).toMatchObject({ attributes: table.attrs })
})

test('[FMT-41] changes the type of an attribute when the new content has another type', () => {
  const doc = made((root) => root.insert(0, [element('heading', [], { level: '2' })]))
  expect(readJson(doc)).toEqual(docOf({ type: 'heading', attrs: { level: '2' } }))
  write(doc, docOf({ type: 'heading', attrs: { level: 2 } }))
  expect(storedOf(doc)).toEqual([{ name: 'heading', attributes: { level: 2 }, children: [] }])
})

test('[FMT-41] removes an attribute of a node when its value is null', () => {
  const doc = written(docOf(table))
  write(doc, docOf({ ...table, attrs: { ...table.attrs, label: null } }))
  const { label: _label, ...others } = table.attrs
  expect(storedOf(doc)[0]).toMatchObject({ attributes: others })
  expect(write(doc, docOf({ ...table, attrs: others })).changed).toBe(false)
})

test('[FMT-41] keeps control characters, which XML does not allow', () => {
  const data = docOf(paragraph(plain('a\u000b\u0001b')))
  expect(readJson(written(data))).toEqual(data)
})

test('[FMT-41] stores marks of one name on the same text next to each other', () => {
  const comments = [1, 2].map((id) => ({ type: 'note', attrs: { id } }))
  const data = docOf(paragraph({ ...plain('x'), marks: comments }))
  const doc = written(data)
  expect(readJson(doc)).toEqual(data)
  write(doc, docOf(paragraph({ ...plain('x'), marks: comments.slice(1) })))
  expect(readJson(doc)).toEqual(docOf(paragraph({ ...plain('x'), marks: comments.slice(1) })))
})

test('[FMT-41] stores marks without attributes as the document does', () => {
  const doc = made((root) =>
    root.insert(0, [element('paragraph', [text(['a', { bold: true }], ['b', { color: 'red' }])])]),
  )
  const colored = { type: 'text', text: 'b', marks: [{ type: 'color', attrs: { value: 'blue' } }] }
  write(doc, docOf(paragraph({ ...plain('a'), marks: [{ type: 'italic' }] }, colored)))
  expect(storedOf(doc)).toMatchObject([
    {
      children: [
        {
          text: [
            { insert: 'a', attributes: { italic: true } },
            { insert: 'b', attributes: { color: 'blue' } },
          ],
        },
      ],
    },
  ])
})

test.each([
  ['data must be a node of the type "doc" or an array, not a string', 'text'],
  ['data at /type must be "doc"', { type: 'paragraph' }],
  ['data at /attrs must be absent', { type: 'doc', attrs: { page: 'a4' } }],
  ['data at /content must be an array, not an object', { type: 'doc', content: {} }],
  ['data at /content/0 must be a node (an object), not null', docOf(null)],
  ['data at /content/0/type must be the name of a node type, not missing', docOf({})],
  [
    'data at /0/content/1/text must be a string, not a number',
    [paragraph(plain('a'), { type: 'text', text: 1 })],
  ],
  ['data at /0 must have only type, attrs, content, marks, not "children"', [{ type: 'p', children: [] }]],
  ['data at /0 must have only type, attrs, content, marks, not "text"', [{ type: 'p', text: 'a' }]],
  ['data at /0/attrs must be an object, not an array', [{ type: 'p', attrs: [] }]],
  ['data at /0/attrs/n must be a JSON value, not NaN', [{ type: 'p', attrs: { n: Number.NaN } }]],
  ['data at /0/marks/0 must be a mark (an object), not a string', [{ ...plain('a'), marks: ['bold'] }]],
  ['data at /0/marks/0/type must be the name of a mark type', [{ ...plain('a'), marks: [{}] }]],
  [
    'data at /0/marks/0 must have only type, attrs, not "name"',
    [{ ...plain('a'), marks: [{ type: 'b', name: 1 }] }],
  ],
])('[FMT-42] rejects invalid content with its position: %s', (problem, data) => {
  const doc = written(docOf(paragraph(plain('kept'))))
  expect(refusal(() => write(doc, data))).toContain(problem)
  expect(readJson(doc)).toEqual(docOf(paragraph(plain('kept'))))
})

test.each([
  ['nested at most 199 levels', () => nested(200)],
  [
    'at most 256 attributes',
    () => [{ type: 'p', attrs: Object.fromEntries(numbers(257).map((n) => [`a${n}`, n])) }],
  ],
  ['at most 64 marks', () => [{ ...plain('a'), marks: numbers(65).map((n) => ({ type: `m${n}` })) }]],
  ['at most 200000 values', () => numbers(200_001).map(() => ({ type: 'p' }))],
])('[FMT-42] rejects content beyond a limit: %s', (limit, data) => {
  expect(refusal(() => written(data()))).toContain(limit)
})

test('[FMT-42] accepts content at the limit of nesting, and reads it', () => {
  expect(readJson(written(nested(199)))).toEqual(docOf(...nested(199)))
})

const numbers = (length: number): number[] => Array.from({ length }, (_, n) => n)

function nested(depth: number): unknown[] {
  let content: unknown[] = []
  for (let level = 0; level < depth; level++)
    content = [{ type: 'blockquote', ...(level > 0 && { content }) }]
  return content
}

test('[FMT-43] keeps content that JSON cannot express', () => {
  const doc = made((root) => {
    const inside = text(['a', { bold: true }])
    root.insert(0, [
      element('paragraph', [inside, text(['b'])], {
        none: null,
        bytes: new Uint8Array([1, 2]),
        nan: Number.NaN,
      }),
      new Y.XmlHook('hook') as never,
      element('text', []),
      element('', [text(['c'])], { constructor: 'x', __proto__x: 1 }),
    ])
    inside.insertEmbed(1, { image: 'x' })
    inside.insert(0, 'x\ud800y')
  })
  const data = readJson(doc)
  expect(updatesOf(doc, () => expect(write(doc, data).changed).toBe(false))).toEqual([])
  write(doc, { ...(data as object), content: [{ type: 'paragraph' }, ...(data as { content: [] }).content] })
  expect(
    loaded(doc)
      .getXmlFragment(plainKey)
      .toArray()
      .filter((node) => node instanceof Y.XmlHook),
  ).toHaveLength(1)
})

test('[FMT-43] distinguishes an element with the name text from a text', () => {
  const data = docOf({ type: 'text', content: [] }, { type: 'text', attrs: { a: 1 }, content: [plain('x')] })
  expect(readJson(written(data))).toEqual(data)
})

test('[FMT-44] keeps the identity of all other nodes when one node changes', () => {
  const items = numbers(50).map((n) => paragraph(plain(`item number ${n}`)))
  const doc = written(docOf(...items))
  const before = identities(doc)
  const changed = [...items]
  changed[20] = paragraph(plain('item number twenty'))
  changed.splice(40, 0, { type: 'horizontalRule' } as never)
  const [update] = updatesOf(doc, () => write(doc, docOf(...changed)))
  expect(readJson(doc)).toEqual(docOf(...changed))
  const after = identities(doc)
  for (const id of before.keys()) expect(after.has(id)).toBe(true)
  expect(after.size).toBe(before.size + 1)
  expect(update?.length).toBeLessThan(100)
})

test('[FMT-44] changes only the formatting when a mark is added', () => {
  const doc = written(docOf(paragraph(plain('one two three'))))
  const before = identities(doc)
  const marked = docOf(
    paragraph(plain('one '), { ...plain('two'), marks: [{ type: 'bold' }] }, plain(' three')),
  )
  expect(write(doc, marked)).toEqual({ changed: true, insertions: 0, deletions: 0 })
  expect(readJson(doc)).toEqual(marked)
  expect(identities(doc)).toEqual(before)
})

test('[FMT-40] rejects the type for a root of another kind', () => {
  const author = new Y.Doc()
  author.getText(plainKey).insert(0, 'text')
  const doc = loaded(author)
  expect(
    refusal(() => replaceContent(doc, { type: 'prosemirror', contentKey: plainKey, data: docOf() })),
  ).toContain('is of type "text"')
})

test('[FMT-45] stores one range of formatting when new text is next to a text that gets the same formatting', () => {
  const doc = written(docOf(paragraph(plain('word'))))
  const marks = [{ type: 'link', attrs: { href: '/x' } }]
  write(doc, docOf(paragraph({ type: 'text', text: 'word and word', marks })))
  expect(storedOf(doc)).toMatchObject([{ children: [{ text: [{ insert: 'word and word' }] }] }])
})
