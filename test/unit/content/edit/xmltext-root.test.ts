import { $createLineBreakNode, $createParagraphNode, $createTextNode, $getRoot } from 'lexical'
import type { Node } from 'slate'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import type { Edit } from '../../../../src/core/content/edit/edit.ts'
import { readRoot } from '../../../../src/core/content/read-document.ts'
import { updatesOf } from '../support.ts'
import { lexicalDoc, lexicalKey, lexicalState, slateDoc, slateKey, slateNodes } from '../xmltext-editors.ts'
import {
  applyEdits,
  attribute,
  attributes,
  block,
  candidatesOf,
  heading,
  insert,
  mark,
  quote,
  rejectionOf,
  remove,
  replace,
  xml,
} from './edit-support.ts'

const slate = [
  { type: 'heading-one', children: [{ text: 'Plan' }] },
  {
    type: 'paragraph',
    id: 'p1',
    children: [{ text: 'one ' }, { text: 'two', bold: true }, { text: ' three' }],
  },
  { type: 'heading-two', children: [{ text: 'Risks' }] },
  { type: 'list', children: [{ type: 'item', children: [{ text: 'four' }] }] },
  {
    type: 'paragraph',
    children: [
      { text: 'see ' },
      { type: 'link', url: 'x', children: [{ text: 'the link' }] },
      { text: ' now' },
    ],
  },
  { type: 'heading-one', children: [{ text: 'End' }] },
  { type: 'paragraph', children: [{ text: '' }] },
] as unknown as Node[]

const onSlate = (doc: Y.Doc, ...edits: Edit[]) => applyEdits(doc, 'xmltext', slateKey, ...edits)
const rejected = (doc: Y.Doc, edit: Edit) => rejectionOf(doc, 'xmltext', slateKey, edit)

function edited(...edits: Edit[]): unknown[] {
  const doc = slateDoc(slate)
  onSlate(doc, ...edits)
  return slateNodes(doc) as unknown[]
}

/** The nodes of Slate with some of them replaced. */
const slateWith = (changes: Record<number, unknown[]>): unknown[] =>
  slate.flatMap((node, index) => changes[index] ?? [node])

const paragraph = (...children: object[]): object => ({ type: 'paragraph', children })

test('[EDIT-20] matches a quote across a link of Slate without text', () => {
  const doc = slateDoc(slate)
  onSlate(doc, remove(quote('the link')), replace(quote('see  now'), 'see now'))
  onSlate(doc, replace(quote('see now'), 'seen'))
  expect(JSON.stringify(slateNodes(doc))).toContain(
    '[{"text":"see"},{"type":"link","url":"x","children":[{"text":""}]},{"text":"n"}]',
  )
})

test('[EDIT-31] inserts a paragraph into a document of Slate that has only headings', () => {
  const doc = slateDoc([{ type: 'heading-one', children: [{ text: 'Plan' }] }] as unknown as Node[])
  onSlate(doc, insert({ at: 'end' }, 'one'))
  expect(slateNodes(doc)).toContainEqual(paragraph({ text: 'one' }))
})

test('[EDIT-31] inserts a paragraph of Lexical into an empty document of Lexical', async () => {
  const doc = lexicalDoc(() => {
    $getRoot().append($createParagraphNode())
  })
  applyEdits(doc, 'xmltext', lexicalKey, remove(block(0)), insert({ at: 'end' }, 'one'))
  expect(JSON.stringify(await lexicalState(doc))).toContain('"text":"one"')
})

test('[EDIT-20] matches a quote across formatting and links of Slate', () => {
  expect(
    edited(
      replace(quote('one two three'), 'one 2 three'),
      replace(quote('see the link now'), 'see a link now'),
    ),
  ).toEqual(
    slateWith({
      1: [{ ...slate[1], children: [{ text: 'one ' }, { text: '2', bold: true }, { text: ' three' }] }],
      4: [
        paragraph(
          { text: 'see ' },
          { type: 'link', url: 'x', children: [{ text: 'a link' }] },
          { text: ' now' },
        ),
      ],
    }),
  )
  const missing = rejected(slateDoc(slate), remove(quote('three Risks')))
  expect(candidatesOf(missing)).toEqual(['Risks', 'three'])
})

test('[EDIT-22] inserts at the end of the section of a heading of Slate', () => {
  expect(edited(insert({ at: 'into', target: heading('Risks') }, 'x\ny'))).toEqual(
    slateWith({ 5: [paragraph({ text: 'x' }), paragraph({ text: 'y' }), slate[5]] }),
  )
  expect(edited(insert({ at: 'after', target: heading('Plan') }, 'x'))).toEqual(
    slateWith({ 5: [paragraph({ text: 'x' }), slate[5]] }),
  )
})

test('[EDIT-23] finds blocks and nodes of Slate', () => {
  expect(
    edited(
      insert({ at: 'into', target: block(6) }, 'five'),
      insert({ at: 'after', target: block(3) }, 'item'),
      replace(attribute('url', 'x'), 'a link'),
      insert({ at: 'before', target: attribute('id', 'p1') }, 'x'),
    ),
  ).toEqual(
    slateWith({
      1: [paragraph({ text: 'x' }), slate[1]],
      3: [
        {
          type: 'list',
          children: [
            { type: 'item', children: [{ text: 'four' }] },
            { type: 'item', children: [{ text: 'item' }] },
          ],
        },
      ],
      4: [
        paragraph(
          { text: 'see ' },
          { type: 'link', url: 'x', children: [{ text: 'a link' }] },
          { text: ' now' },
        ),
      ],
      6: [paragraph({ text: 'five' })],
    }),
  )
})

test('[EDIT-32] removes a quote and a whole block of Slate', () => {
  expect(edited(remove(quote('two ')), remove(block(3)), remove(heading('End')))).toEqual(
    slateWith({ 1: [{ ...slate[1], children: [{ text: 'one three' }] }], 3: [], 5: [] }),
  )
})

test('[EDIT-33] sets and removes marks of Slate', () => {
  expect(edited(mark(quote('two three'), 'color', 'red'), mark(quote('two'), 'bold', null))).toEqual(
    slateWith({
      1: [{ ...slate[1], children: [{ text: 'one ' }, { text: 'two three', color: 'red' }] }],
    }),
  )
})

test('[EDIT-34] sets and removes attributes of blocks of Slate', () => {
  const outcome = onSlate(
    slateDoc(slate),
    attributes(quote('two'), { align: { x: 1 }, id: null, type: 'paragraph' }),
  )
  expect(outcome).toMatchObject({ insertions: 1, deletions: 1, changed: true })
  expect(edited(attributes(heading('Risks'), { type: 'heading-one' }))).toEqual(
    slateWith({ 2: [{ ...slate[2], type: 'heading-one' }] }),
  )
})

test('[EDIT-5] writes nothing when Slate already has the result', () => {
  const doc = slateDoc(slate)
  const edits = [
    replace(quote('one two'), 'one two'),
    mark(quote('two'), 'bold', true),
    mark(quote('three'), 'bold', null),
    attributes(block(1), { id: 'p1', other: null }),
    insert({ at: 'end' }, ''),
  ]
  for (const edit of edits) {
    expect(updatesOf(doc, () => expect(onSlate(doc, edit).changed).toBe(false))).toEqual([])
  }
})

test('[EDIT-24] finds an anchor in a nested text', () => {
  const doc = slateDoc(slate)
  const text = (doc.get(slateKey, Y.XmlText).toDelta() as { insert: Y.XmlText }[])[1]?.insert as Y.XmlText
  const position = (index: number): Uint8Array =>
    Y.encodeRelativePosition(Y.createRelativePositionFromTypeIndex(text, index))
  const anchor = { is: 'anchor', start: position(4), end: position(7) } as const
  expect(
    onSlate(doc, insert({ at: 'before', target: quote('one') }, 'zero '), remove(anchor)).place,
  ).toMatchObject({
    quote: 'two',
    before: 'zero one ',
  })
  expect(rejected(doc, remove(anchor)).code).toBe('crdt/target-not-found')
})

test('[EDIT-8] rejects edits that nested texts do not support', () => {
  const edits: Edit[] = [
    { is: 'text', index: 0, deletions: 0, insertion: 'x' },
    { is: 'patch', operations: [] },
    { is: 'replace', target: quote('two'), content: xml('<p/>') },
    remove({ is: 'path', path: ['a'] }),
  ]
  for (const edit of edits) expect(rejected(slateDoc(slate), edit).code).toBe('crdt/edit-not-supported')
})

const text = (content: string) => $createTextNode(content)

/** Applies edits to content of Lexical. Returns the states of Lexical for the result and for the wanted content. */
async function lexicalStates(
  write: () => void,
  edits: Edit[],
  wanted: () => void,
): Promise<[unknown, unknown]> {
  const doc = lexicalDoc(write)
  applyEdits(doc, 'xmltext', lexicalKey, ...edits)
  return [await lexicalState(doc), await lexicalState(lexicalDoc(wanted))]
}

const writeHello = (): void => {
  $getRoot().append(
    $createParagraphNode().append(
      text('Hello '),
      text('big world').toggleFormat('bold'),
      $createLineBreakNode(),
      text('end'),
    ),
    $createParagraphNode(),
  )
}

test('[EDIT-30] changes text of Lexical across its nodes', async () => {
  const [shown, wanted] = await lexicalStates(
    writeHello,
    [
      replace(quote('Hello big world end'), 'Hello small world end!'),
      insert({ at: 'into', target: block(1) }, 'new'),
    ],
    () => {
      $getRoot().append(
        $createParagraphNode().append(
          text('Hello '),
          text('small world').toggleFormat('bold'),
          $createLineBreakNode(),
          text('end!'),
        ),
        $createParagraphNode().append(text('new')),
      )
    },
  )
  expect(shown).toEqual(wanted)
})

test('[EDIT-32] removes nodes of Lexical that would be empty, and keeps the format of others', async () => {
  const [shown, wanted] = await lexicalStates(
    writeHello,
    [remove(quote('lo big ')), remove(quote('end')), remove(block(1))],
    () => {
      $getRoot().append(
        $createParagraphNode().append(
          text('Hel'),
          text('world').toggleFormat('bold'),
          $createLineBreakNode(),
        ),
      )
    },
  )
  expect(shown).toEqual(wanted)
})

test('[EDIT-85] joins adjacent texts of Lexical that become equal, and keeps the only block', () => {
  const textsIn = (doc: Y.Doc): number =>
    JSON.stringify(readRoot(doc, lexicalKey).data).split('"__type":"text"').length - 1
  const doc = lexicalDoc(writeHello)
  const before = textsIn(doc)
  applyEdits(doc, 'xmltext', lexicalKey, mark(quote('big world'), 'bold', null))
  expect(textsIn(doc)).toBe(before - 1)
  applyEdits(doc, 'xmltext', lexicalKey, mark(quote('big'), 'bold', true), remove(quote('big')))
  expect(textsIn(doc)).toBe(before - 1)
  applyEdits(doc, 'xmltext', lexicalKey, remove(block(1)), remove(block(0)))
  expect(readRoot(doc, lexicalKey).data).toMatchObject({
    delta: [{ text: { attributes: { __type: 'paragraph' } } }],
  })
})

test('[EDIT-31] inserts paragraphs and text that Lexical shows', async () => {
  const [shown, wanted] = await lexicalStates(
    writeHello,
    [
      insert({ at: 'after', target: block(0) }, 'x\n\ny'),
      insert({ at: 'before', target: quote('Hello') }, '>'),
      insert({ at: 'start' }, 'first'),
      insert({ at: 'after', target: quote('world') }, '<'),
    ],
    () => {
      $getRoot().append(
        $createParagraphNode().append(text('first')),
        $createParagraphNode().append(
          text('>Hello '),
          text('big world<').toggleFormat('bold'),
          $createLineBreakNode(),
          text('end'),
        ),
        $createParagraphNode().append(text('x')),
        $createParagraphNode(),
        $createParagraphNode().append(text('y')),
        $createParagraphNode(),
      )
    },
  )
  expect(shown).toEqual(wanted)
})

test('[EDIT-33] formats text of Lexical and keeps its characters', async () => {
  const doc = lexicalDoc(writeHello)
  const edit = mark(quote('lo big'), 'italic', true)
  applyEdits(doc, 'xmltext', lexicalKey, edit, mark(quote('world'), 'bold', null))
  expect(await lexicalState(doc)).toEqual(
    await lexicalState(
      lexicalDoc(() => {
        $getRoot().append(
          $createParagraphNode().append(
            text('Hel'),
            text('lo ').toggleFormat('italic'),
            text('big').toggleFormat('bold').toggleFormat('italic'),
            text(' ').toggleFormat('bold'),
            text('world'),
            $createLineBreakNode(),
            text('end'),
          ),
          $createParagraphNode(),
        )
      }),
    ),
  )
  expect(updatesOf(doc, () => applyEdits(doc, 'xmltext', lexicalKey, edit))).toEqual([])
  expect(rejectionOf(doc, 'xmltext', lexicalKey, mark(quote('end'), 'color', 'red')).code).toBe(
    'crdt/edit-not-supported',
  )
})

const bold = (content: string) => text(content).toggleFormat('bold')
const lineBreak = () => $createLineBreakNode()
const inParagraph = (...nodes: ReturnType<typeof text | typeof lineBreak>[]) => {
  $getRoot().append($createParagraphNode().append(...nodes), $createParagraphNode())
}

test.each<[string, Edit, () => void]>([
  [
    'inside a text',
    replace(quote('big'), 'a\nb\r\nc'),
    () =>
      inParagraph(
        text('Hello '),
        bold('a'),
        lineBreak(),
        bold('b'),
        lineBreak(),
        bold('c world'),
        lineBreak(),
        text('end'),
      ),
  ],
  [
    'at the end of a text',
    insert({ at: 'after', target: quote('end') }, '\n'),
    () => inParagraph(text('Hello '), bold('big world'), lineBreak(), text('end'), lineBreak()),
  ],
  [
    'at the start of a text',
    insert({ at: 'before', target: quote('big') }, '\nx'),
    () => inParagraph(text('Hello '), lineBreak(), text('x'), bold('big world'), lineBreak(), text('end')),
  ],
  [
    'in place of a text',
    replace(quote('big world'), '\n'),
    () => inParagraph(text('Hello '), lineBreak(), lineBreak(), text('end')),
  ],
  [
    'in an empty paragraph',
    insert({ at: 'into', target: block(1) }, 'a\nb'),
    () => {
      $getRoot().append(
        $createParagraphNode().append(text('Hello '), bold('big world'), lineBreak(), text('end')),
        $createParagraphNode().append(text('a'), lineBreak(), text('b')),
      )
    },
  ],
])('[FMT-156] stores a new line break of Lexical as a node %s', async (_, edit, wanted) => {
  const [shown, expected] = await lexicalStates(writeHello, [edit], wanted)
  expect(shown).toEqual(expected)
})

test('[FMT-156] keeps line breaks of Slate as characters', () => {
  expect(edited(replace(quote('four'), 'a\nb'))).toEqual(
    slateWith({ 3: [{ type: 'list', children: [{ type: 'item', children: [{ text: 'a\nb' }] }] }] }),
  )
})
