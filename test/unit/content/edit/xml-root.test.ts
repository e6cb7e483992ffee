import { expect, test } from 'vitest'
import * as Y from 'yjs'
import type { Edit, EditTarget } from '../../../../src/core/content/edit/edit.ts'
import { readRootAs } from '../../../../src/core/content/read-document.ts'
import { checkChange } from '../../../../src/core/content/root-change.ts'
import { loaded, updatesOf } from '../support.ts'
import { correctionsOf, shown, stored, tiptapSchema } from '../xml-editors.ts'
import { docOf, identities, plainKey, richKey, storedOf, xmlOf } from '../xml-support.ts'
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
  textAt,
  xml,
} from './edit-support.ts'

const apply = (doc: Y.Doc, ...edits: Edit[]) => applyEdits(doc, 'xml', richKey, ...edits)
const rejected = (doc: Y.Doc, edit: Edit) => rejectionOf(doc, 'xml', richKey, edit)
const rich = (data: string): Y.Doc => docOf(data, richKey)
const shownXml = (doc: Y.Doc): string => xmlOf(doc, richKey)

/** The content after edits, as an editor of Tiptap shows it. The editor must have nothing to correct. */
function edited(data: string, ...edits: Edit[]): string {
  const doc = rich(data)
  apply(doc, ...edits)
  const node = shown(doc, tiptapSchema)
  node.check()
  if (hasAdjacentTexts(doc.getXmlFragment(richKey))) return shownXml(doc)
  expect(correctionsOf(doc, node)).toEqual([])
  return shownXml(doc)
}

/** Returns whether two texts are adjacent. The binding of Tiptap joins them when their block is edited. */
const hasAdjacentTexts = (parent: Y.XmlFragment): boolean =>
  parent.toArray().some((child, index, children) => {
    if (child instanceof Y.XmlText) return children[index + 1] instanceof Y.XmlText
    return child instanceof Y.XmlElement && hasAdjacentTexts(child)
  })

const plan =
  '<heading level="1">Plan</heading><paragraph>one <bold>two</bold> three</paragraph>' +
  '<heading level="2">Risks</heading><bulletList><listItem><paragraph>four</paragraph></listItem></bulletList>' +
  '<heading level="1">End</heading><paragraph>five</paragraph>'

test('[EDIT-20] matches a quote across formatting and hard breaks, but not across other inline elements', () => {
  const data = '<paragraph>one <bold>t</bold>wo<hardBreak/>three <image src="x"/> four</paragraph>'
  expect(edited(data, replace(quote('one two three'), 'one 2 three'))).toBe(
    '<paragraph>one <bold>2</bold><hardBreak/>three <image src="x"/> four</paragraph>',
  )
  expect(edited(data, replace(quote('two three'), 'two\nten'))).toBe(
    '<paragraph>one <bold>t</bold>wo<hardBreak/>ten <image src="x"/> four</paragraph>',
  )
  expect(rejected(rich(data), remove(quote('three four'))).code).toBe('crdt/target-not-found')
})

test('[EDIT-20] matches a quote in one block only, unless it may span several', () => {
  const data = '<paragraph>one two</paragraph><paragraph>three four</paragraph>'
  expect(rejected(rich(data), remove(quote('two three'))).code).toBe('crdt/target-not-found')
  const across = quote('two three', { acrossBlocks: true })
  expect(edited(data, remove(across))).toBe('<paragraph>one </paragraph><paragraph> four</paragraph>')
  expect(edited(data, replace(across, '2\n3'))).toBe(
    '<paragraph>one 2</paragraph><paragraph>3 four</paragraph>',
  )
  expect(edited(data, mark(across, 'bold', true))).toBe(
    '<paragraph>one <bold>two</bold></paragraph><paragraph><bold>three</bold> four</paragraph>',
  )
})

test('[EDIT-4] rejects a missing or ambiguous target with similar places', () => {
  const doc = rich(plan)
  expect(candidatesOf(rejected(doc, remove(quote('one or two'))))).toEqual(['one two'])
  expect(rejected(doc, remove(quote('f'))).details?.candidates).toEqual([
    { quote: 'f', after: 'our' },
    { quote: 'f', after: 'ive' },
  ])
  expect(candidatesOf(rejected(doc, remove(heading('Risk'))))).toEqual(['Plan', 'Risks', 'End'])
  expect(candidatesOf(rejected(doc, remove(attribute('level', 1))))).toEqual(['Plan', 'End'])
  expect(rejected(doc, remove(block(6))).code).toBe('crdt/target-not-found')
})

test('[EDIT-22] inserts into and after a heading at the end of its section', () => {
  const near = (edit: Edit): string =>
    edited(plan, edit).replace(/^.*<\/paragraph>(?=<heading level="2">)/, '')
  const list = '<bulletList><listItem><paragraph>four</paragraph></listItem></bulletList>'
  const tail = '<heading level="1">End</heading><paragraph>five</paragraph>'
  expect(near(insert({ at: 'after', target: heading('Risks') }, 'x\ny'))).toBe(
    `<heading level="2">Risks</heading>${list}<paragraph>x</paragraph><paragraph>y</paragraph>${tail}`,
  )
  expect(edited(plan, insert({ at: 'into', target: heading('Plan') }, 'x'))).toBe(
    plan.replace('<heading level="1">End', '<paragraph>x</paragraph><heading level="1">End'),
  )
  expect(edited(plan, insert({ at: 'into', target: heading('End') }, 'x'))).toBe(
    `${plan}<paragraph>x</paragraph>`,
  )
  expect(edited(plan, insert({ at: 'before', target: heading('Risks') }, 'x'))).toBe(
    plan.replace('<heading level="2">', '<paragraph>x</paragraph><heading level="2">'),
  )
  expect(edited('<heading level="1">a</heading>', insert({ at: 'into', target: heading('a') }, 'x'))).toBe(
    '<heading level="1">a</heading><paragraph>x</paragraph>',
  )
})

test('[EDIT-23] finds a block by its index, and a node by an attribute of any type', () => {
  expect(edited(plan, replace(block(3), 'for'), replace(attribute('level', '2'), 'Risk'))).toBe(
    plan.replace('four', 'for').replace('Risks', 'Risk'),
  )
  const table =
    '<table><tableRow><tableCell colspan="1" rowspan="1"><paragraph>a</paragraph></tableCell>' +
    '<tableCell colspan="2" rowspan="1"><paragraph>b</paragraph></tableCell></tableRow></table>'
  expect(edited(table, insert({ at: 'into', target: attribute('colspan', 2) }, 'c'))).toContain(
    '<paragraph>bc</paragraph>',
  )
})

test('[EDIT-24] finds an anchor in a block, and rejects it when its text was deleted', () => {
  const doc = rich(plan)
  const text = doc.getXmlFragment(richKey).get(1) as Y.XmlElement
  const position = (index: number): Uint8Array =>
    Y.encodeRelativePosition(Y.createRelativePositionFromTypeIndex(text.get(0) as Y.XmlText, index))
  const anchor = { is: 'anchor', start: position(4), end: position(7) } as const
  expect(
    apply(doc, insert({ at: 'before', target: quote('one') }, 'zero '), mark(anchor, 'italic', true)).place,
  ).toEqual({
    quote: 'two',
    before: 'zero one ',
    after: ' three',
  })
  apply(doc, remove(anchor))
  expect(shownXml(doc)).toContain('<paragraph>zero one  three</paragraph>')
  expect(rejected(doc, remove(anchor)).code).toBe('crdt/target-not-found')
})

test('[EDIT-1] changes the identity of no element and no other text', () => {
  const doc = rich(plan)
  const before = identities(doc, richKey)
  apply(
    doc,
    replace(quote('two'), '2'),
    mark(quote('three'), 'bold', true),
    replace(heading('Plan'), 'Plans'),
  )
  expect(identities(doc, richKey)).toEqual(before)
})

test('[EDIT-5] writes nothing when the document already has the result', () => {
  const doc = rich(plan)
  const edits = [
    replace(quote('two'), 'two'),
    replace(heading('Risks'), 'Risks'),
    { is: 'replace', target: block(3), content: xml('<paragraph>four</paragraph>') } as const,
    mark(quote('two'), 'bold', true),
    mark(quote('three'), 'bold', null),
    attributes(heading('Plan'), { level: 1, id: null }),
    insert({ at: 'end' }, ''),
    insert({ at: 'after', target: block(0) }, xml('')),
  ]
  for (const edit of edits) {
    expect(updatesOf(doc, () => expect(apply(doc, edit).changed).toBe(false))).toEqual([])
  }
})

test('[EDIT-30] keeps the formatting of the characters that stay', () => {
  expect(edited(plan, replace(quote('one two three'), 'one twos and three'))).toContain(
    '<paragraph>one <bold>two</bold>s and three</paragraph>',
  )
})

test('[EDIT-31] inserts text before, after and into its target, and paragraphs at the ends', () => {
  expect(
    edited(
      plan,
      insert({ at: 'before', target: quote('two') }, 'a '),
      insert({ at: 'after', target: quote('two') }, ' b'),
      insert({ at: 'into', target: block(5) }, '!'),
      insert({ at: 'before', target: block(3) }, 'in\nlist'),
      insert({ at: 'start' }, 'first'),
      insert({ at: 'end' }, 'last\nline\n'),
    ),
  ).toBe(
    `<paragraph>first</paragraph>${plan
      .replace('one <bold>two</bold> three', 'one a <bold>two</bold> b three')
      .replace('five', 'five!')
      .replace('<listItem>', '<listItem><paragraph>in</paragraph><paragraph>list</paragraph>')}` +
      '<paragraph>last</paragraph><paragraph>line</paragraph>',
  )
  expect(edited('<paragraph/>', insert({ at: 'into', target: block(0) }, 'x'))).toBe(
    '<paragraph>x</paragraph>',
  )
})

test('[EDIT-31] inserts XML as blocks, or inside a text if it is inline', () => {
  const at = (place: 'before' | 'after', data: string) =>
    insert({ at: place, target: quote('two') }, xml(data))
  const around = '<paragraph>one <bold>two</bold> three</paragraph>'
  expect(edited(plan, at('after', '<codeBlock language="js">x</codeBlock>'))).toBe(
    plan.replace(around, `${around}<codeBlock language="js">x</codeBlock>`),
  )
  expect(edited(plan, at('before', '<italic>1</italic>½'))).toBe(
    plan.replace('<bold>two', '<italic>1</italic>½<bold>two'),
  )
  expect(edited(plan, at('before', 'a<hardBreak/>b'))).toBe(
    plan.replace('<bold>two', 'a<hardBreak/>b<bold>two'),
  )
  expect(edited(plan, at('before', '<hardBreak/>'))).toBe(plan.replace('<bold>two', '<hardBreak/><bold>two'))
  expect(edited(plan, insert({ at: 'end' }, xml('plain <bold>x</bold>')))).toBe(
    `${plan}<paragraph>plain <bold>x</bold></paragraph>`,
  )
})

test('[EDIT-31] replaces a block by XML, and keeps the text that stays', () => {
  const by = (data: string): Edit => ({ is: 'replace', target: block(1), content: xml(data) })
  const around = '<paragraph>one <bold>two</bold> three</paragraph>'
  const doc = rich(plan)
  const before = [...identities(doc, richKey).keys()]
  apply(doc, by('<paragraph>one <bold>two</bold> and three</paragraph><paragraph>new</paragraph>'))
  expect(before.every((id) => identities(doc, richKey).has(id))).toBe(true)
  expect(edited(plan, by('<codeBlock>x</codeBlock>'))).toBe(plan.replace(around, '<codeBlock>x</codeBlock>'))
  expect(edited(plan, by('x'))).toBe(plan.replace(around, '<paragraph>x</paragraph>'))
})

test('[EDIT-32] removes a quote, a whole block, and elements that would be empty', () => {
  expect(edited(plan, remove(quote('two ')), remove(heading('Risks')), remove(block(2)))).toBe(
    '<heading level="1">Plan</heading><paragraph>one three</paragraph><heading level="1">End</heading><paragraph>five</paragraph>',
  )
  const table =
    '<table><tableRow><tableCell colspan="1" rowspan="1"><paragraph>a</paragraph></tableCell></tableRow></table>'
  expect(edited(table, remove(block(0)))).toBe(table.replace('<paragraph>a</paragraph>', '<paragraph/>'))
  expect(edited('<paragraph>a<image src="x"/>b</paragraph>', remove(attribute('src', 'x')))).toBe(
    '<paragraph>ab</paragraph>',
  )
})

test('[EDIT-33] sets and removes a mark as the document stores it', () => {
  const doc = stored(
    tiptapSchema.node('doc', null, [
      tiptapSchema.node('paragraph', null, [
        tiptapSchema.text('one ', [tiptapSchema.mark('comment', { id: 'a' })]),
        tiptapSchema.text('two', [tiptapSchema.mark('bold')]),
      ]),
    ]),
  )
  apply(
    doc,
    mark(quote('one two'), 'comment', { id: 'b', resolved: false }),
    mark(quote('two'), 'bold', null),
  )
  apply(doc, mark(quote('one'), 'italic', true))
  const node = shown(doc, tiptapSchema)
  node.check()
  expect(correctionsOf(doc, node)).toEqual([])
  expect(shownXml(doc)).toBe(
    '<paragraph><comment id="a" resolved="false"><comment id="b" resolved="false"><italic>one</italic> </comment></comment>' +
      '<comment id="b" resolved="false">two</comment></paragraph>',
  )
  apply(doc, mark(quote('one two'), 'comment', null))
  expect(shownXml(doc)).toBe('<paragraph><italic>one</italic> two</paragraph>')
  expect(rejected(doc, mark(quote('two'), 'link', 'x')).code).toBe('crdt/edit-not-supported')
})

test('[EDIT-34] sets and removes attributes of a node and keeps all others', () => {
  const doc = rich('<heading level="1" id="a">x</heading>')
  expect(apply(doc, attributes(quote('x'), { level: 2, id: null, extra: [1] }))).toMatchObject({
    insertions: 2,
    deletions: 1,
    place: { quote: 'x', attributes: { level: 1, id: 'a' } },
  })
  expect(storedOf(doc, richKey)).toMatchObject([{ attributes: { level: 2, extra: [1] } }])
})

test('[EDIT-32] handles a block of BlockNote together with its container', () => {
  const container = (id: string, inside: string): string =>
    `<blockContainer id="${id}">${inside}</blockContainer>`
  const nested = container(
    'a',
    `<paragraph>one</paragraph><blockGroup>${container('b', '<paragraph>two</paragraph>')}</blockGroup>`,
  )
  const data = `<blockGroup>${nested}${container('c', '<heading level="1">H</heading>')}</blockGroup>`
  const note = (...edits: Edit[]): string => {
    const doc = docOf(data, 'document-store')
    applyEdits(doc, 'xml', 'document-store', ...edits)
    return xmlOf(doc, 'document-store').replaceAll(/id="[0-9a-f-]{36}"/g, 'id="new"')
  }
  const added = container('new', '<paragraph>x</paragraph>')
  expect(note(insert({ at: 'after', target: block(0) }, 'x'))).toBe(data.replace(nested, nested + added))
  expect(note(insert({ at: 'before', target: block(1) }, 'x'))).toBe(
    data.replace('<blockContainer id="b">', `${added}<blockContainer id="b">`),
  )
  expect(note(insert({ at: 'end' }, 'x'))).toBe(data.replace(/<\/blockGroup>$/, `${added}</blockGroup>`))
  expect(note(insert({ at: 'into', target: heading('H') }, xml('<paragraph>x</paragraph>')))).toBe(
    data.replace(/<\/blockGroup>$/, `${added}</blockGroup>`),
  )
  expect(note(remove(block(0)))).toBe(data.replace(nested, ''))
  expect(note(remove(attribute('id', 'b')))).toBe(
    data.replace(/<blockGroup><blockContainer id="b">.*?<\/blockGroup>/, ''),
  )
  expect(note(replace(attribute('id', 'c'), 'x'))).toBe(data.replace('>H<', '>x<'))
})

test('[EDIT-31] uses the element of paragraphs in other XML', () => {
  const doc = docOf('<doc><h1>Title</h1><p>one</p><p>two</p><ul><li>a</li></ul></doc>')
  applyEdits(doc, 'xml', plainKey, insert({ at: 'into', target: heading('Title') }, 'x'))
  applyEdits(doc, 'xml', plainKey, insert({ at: 'after', target: block(3) }, 'b'))
  expect(xmlOf(doc)).toBe(
    '<doc><h1>Title</h1><p>one</p><p>two</p><ul><li>a</li><li>b</li></ul><p>x</p></doc>',
  )
})

test('[EDIT-8] rejects edits that XML does not support', () => {
  const doc = rich(plan)
  const edits: Edit[] = [
    textAt(0, 0, 'x'),
    { is: 'patch', operations: [] },
    insert({ at: 'into', target: block(1) }, xml('<paragraph>x</paragraph>')),
    { is: 'replace', target: quote('two'), content: xml('<paragraph>x</paragraph>') },
  ]
  for (const edit of edits) expect(rejected(doc, edit).code).toBe('crdt/edit-not-supported')
})

test('[EDIT-34] finds and sets an attribute whose value is shared', () => {
  const doc = rich('<block>x</block>')
  const [block] = doc.getXmlFragment(richKey).toArray() as Y.XmlElement[]
  const shared: EditTarget = { is: 'attribute', name: 'data', value: { a: 1 } }
  Y.XmlElement.prototype.setAttribute.call(block, 'data', new Y.Map([['a', 1]]) as never)
  expect(apply(doc, attributes(shared, { data: { a: 1 } }))).toMatchObject({
    changed: false,
  })
  expect(apply(doc, attributes(quote('x'), { data: { a: 2 } }))).toMatchObject({ changed: true })
  expect(storedOf(doc, richKey)).toMatchObject([{ attributes: { data: { a: 2 } } }])
})

test('[EDIT-3] omits large attributes in the result of an edit', () => {
  const large = 'x'.repeat(990)
  const doc = rich(`<image id="a" src="${large}" alt="cat" title="${'x'.repeat(300)}"/>`)
  const { place } = apply(doc, attributes(attribute('id', 'a'), { alt: 'dog' }))
  expect(place.attributes).toEqual({ id: 'a', alt: 'cat', title: 'x'.repeat(300) })
})

test('[EDIT-9] rejects text with much formatting that replaces a part of a block', () => {
  const by = (count: number): Edit => ({
    is: 'replace',
    target: quote('monday'),
    content: xml('<italic>a</italic> '.repeat(count)),
  })
  const data = '<paragraph>We ship on monday.</paragraph>'
  expect(edited(data, by(50))).toContain('<italic>a</italic> <italic>a</italic>')
  expect(rejected(rich(data), by(51)).code).toBe('crdt/edit-not-supported')
})

const items = (...blocks: string[]): string =>
  `<bulletList><listItem>${blocks.join('')}</listItem></bulletList>`

test('[EDIT-82] keeps a paragraph as the first block of a list item', () => {
  const [first, second] = ['<paragraph>one</paragraph>', items('<paragraph>two</paragraph>')]
  const code = '<codeBlock>x</codeBlock>'
  const data = items(first, second)
  expect(edited(data, insert({ at: 'before', target: block(0) }, xml(code)))).toBe(
    items('<paragraph/>', code, first, second),
  )
  expect(edited(data, replace(block(0), xml(code)))).toBe(items('<paragraph/>', code, second))
  expect(edited(data, remove(block(0)))).toBe(items('<paragraph/>', second))
  expect(edited(items(first, '<paragraph>b</paragraph>'), remove(block(0)))).toBe(
    items('<paragraph>b</paragraph>'),
  )
})

test('[EDIT-83] keeps the text of code without formatting', () => {
  const code = '<codeBlock>let a = 1</codeBlock>'
  const bold = xml('<bold>b</bold>')
  expect(edited(code, replace(quote('a'), bold))).toBe('<codeBlock>let b = 1</codeBlock>')
  expect(edited(code, insert({ at: 'after', target: quote('a') }, bold))).toBe(
    '<codeBlock>let ab = 1</codeBlock>',
  )
  expect(rejected(rich(code), mark(quote('let'), 'bold', {})).code).toBe('crdt/edit-not-supported')
  const other = '<codeBlock>let <comment id="1">a</comment> = 1</codeBlock>'
  expect(shownXml(afterEdit(other, mark(quote('let'), 'comment', { id: '2' })))).toContain(
    '<comment id="2">let',
  )
})

const afterEdit = (data: string, ...edits: Edit[]): Y.Doc => {
  const doc = rich(data)
  apply(doc, ...edits)
  return doc
}

const contained = (id: string, ...content: string[]): string =>
  `<blockContainer id="${id}">${content.join('')}</blockContainer>`
const grouped = (...containers: string[]): string => `<blockGroup>${containers.join('')}</blockGroup>`
const withoutUuids = (text: string): string => text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'new')

test('[EDIT-84] puts new blocks of BlockNote into containers with ids of their own', () => {
  const nested = grouped(contained('b', '<paragraph>two</paragraph>'))
  const data = grouped(
    contained('a', '<paragraph>one</paragraph>', nested),
    contained(
      't',
      '<table><tableRow><tableCell><tableParagraph>x</tableParagraph></tableCell></tableRow></table>',
    ),
  )
  const after = (...edits: Edit[]): string => withoutUuids(shownXml(afterEdit(data, ...edits)))
  const divider = xml(contained('b', '<divider/>'))
  expect(after(replace(block(0), divider))).toBe(data.replace('<paragraph>one</paragraph>', '<divider/>'))
  expect(after(insert({ at: 'start' }, divider))).toBe(
    data.replace('<blockGroup>', `<blockGroup>${contained('new', '<divider/>')}`),
  )
  expect(after(insert({ at: 'start' }, 'text'))).toContain(contained('new', '<paragraph>text</paragraph>'))
  const whole = contained('c', '<paragraph>three</paragraph>', grouped(contained('d', '<divider/>')))
  expect(after(replace(block(0), xml(whole)))).toContain(whole)
  expect(rejected(rich(data), replace(quote('x'), divider)).code).toBe('crdt/edit-not-supported')
})

test('[EDIT-86] inserts paragraphs into an empty root of rich text', () => {
  const insertion = { edits: [{ insert: { at: 'end', content: 'one\n\ntwo', format: 'text' } }] }
  const after = (contentKey: string): string => {
    const doc = new Y.Doc()
    checkChange({ ...insertion, contentKey }).apply(doc)
    return withoutUuids(xmlOf(doc, contentKey))
  }
  const [one, empty, two] = ['<paragraph>one</paragraph>', '<paragraph/>', '<paragraph>two</paragraph>']
  expect(after('default')).toBe(one + empty + two)
  expect(after('document-store')).toBe(
    grouped(contained('new', one), contained('new', empty), contained('new', two)),
  )
})

test.each([
  ['default', 'xml', '<paragraph>a b</paragraph>', '<paragraph>a <bold>c</bold> d</paragraph>'],
  ['content', 'text', 'a b', 'a **c**\nd'],
  ['data', 'xml', '<item>a b</item>', '<item>a **c**\nd</item>'],
])(
  '[EDIT-87] reads a string without a format as Markdown in rich text only (%s, %s)',
  (contentKey, type, data, wanted) => {
    const doc = new Y.Doc()
    checkChange({ type, contentKey, data }).apply(doc)
    checkChange({ contentKey, edits: [{ replace: { find: 'b', with: '**c**\nd' } }] }).apply(doc)
    expect(readRootAs(doc, type, contentKey).data).toBe(wanted)
  },
)

test('[EDIT-87] writes Markdown as it is into code, unless it has a block of code', () => {
  const after = (text: string): unknown => {
    const doc = new Y.Doc()
    checkChange({ type: 'xml', contentKey: 'default', data: '<codeBlock>let x = 1</codeBlock>' }).apply(doc)
    checkChange({ edits: [{ replace: { find: 'let x = 1', with: text } }] }).apply(doc)
    return readRootAs(doc, 'xml', 'default').data
  }
  expect(after('y = *p;\n_z_')).toBe('<codeBlock>y = *p;\n_z_</codeBlock>')
  expect(after('```js\ny\n```')).toBe('<codeBlock language="js">y</codeBlock>')
})

test.each([
  ['one **two**', '<paragraph indent="2">one <bold><comment id="c">two</comment></bold></paragraph>'],
  ['# one two', '<heading level="1">one <comment id="c">two</comment></heading>'],
  ['- one\n- two', '<listItem><paragraph><comment id="c">two</comment></paragraph></listItem>'],
])('[EDIT-37] keeps other formatting on the text that stays when a block becomes %j', (text, wanted) => {
  const doc = rich('<paragraph indent="2">one <comment id="c">two</comment></paragraph>')
  const edit = { replace: { find: { block: 0 }, with: text, format: 'markdown' } }
  checkChange({ contentKey: richKey, edits: [edit] }).apply(doc)
  expect(shownXml(doc)).toContain(wanted)
})

test.each([
  ['markdown', '---'],
  ['html', '<hr>'],
])(
  '[EDIT-31] inserts a rule next to a quote as a block, and rejects it instead of a quote (%s)',
  (format, rule) => {
    const doc = rich('<paragraph>Price: TBD EUR</paragraph>')
    const apply = (edit: object): unknown => checkChange({ contentKey: richKey, edits: [edit] }).apply(doc)
    expect(() => apply({ replace: { find: 'TBD', with: rule, format } })).toThrow(
      'can only replace a whole block',
    )
    apply({ insert: { after: 'TBD', content: rule, format } })
    expect(shownXml(doc)).toBe('<paragraph>Price: TBD EUR</paragraph><horizontalRule/>')
  },
)

test.each([
  [
    '<paragraph>a <bold>x</bold><mention id="1"/>y long</paragraph>',
    '<paragraph>a <bold>x</bold>y long</paragraph>',
  ],
  [
    '<paragraph>long text<mention id="1"/><bold>y</bold></paragraph>',
    '<paragraph>long text<bold>y</bold></paragraph>',
  ],
])('[EDIT-99] leaves one text where it removes the element between two (%s)', (data, wanted) => {
  const doc = new Y.Doc()
  checkChange({ type: 'xml', contentKey: 'default', data }).apply(doc)
  checkChange({ edits: [{ remove: { target: { attribute: { id: '1' } } } }] }).apply(doc)
  expect(readRootAs(doc, 'xml', 'default').data).toBe(wanted)
  const [paragraph] = loaded(doc).getXmlFragment('default').toArray()
  expect((paragraph as Y.XmlElement).length).toBe(1)
})
