import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { checkFormatted } from '../../../../src/core/content/blocks/block-format.ts'
import { replaceXmlBlocks } from '../../../../src/core/content/blocks/xml-blocks.ts'
import { markdownFormat } from '../../../../src/core/content/markdown/markdown.ts'
import type { CompiledSchema } from '../../../../src/core/content/schemas/compiled-schema.ts'
import { checkAgainstSchema, schemaOf } from '../../../../src/core/content/schemas/content-schema.ts'
import { limits } from '../../../../src/core/model/limits.ts'
import { updatesOf } from '../support.ts'
import { docOf, identities, refusal, xmlOf } from '../xml-support.ts'
import {
  container,
  idsIn,
  noteKey,
  noteOf,
  readNote,
  shownNote,
  type TextFormat,
  writeNote,
} from './note-support.ts'

/** A new document after a write, as stored. */
function stored(data: string, format: TextFormat = 'markdown'): string {
  const doc = new Y.Doc()
  writeNote(doc, data, format)
  return shownNote(doc)
}

const added = (content: string, ...nested: string[]): string => container('new', content, ...nested)

/** The document after Markdown in which a part was replaced was written. */
function rewritten(doc: Y.Doc, ...changes: [string | RegExp, string][]): string {
  writeNote(
    doc,
    changes.reduce((text, [part, instead]) => text.replace(part, instead), readNote(doc)),
  )
  return shownNote(doc)
}

test('[FMT-100] stores Markdown in a new root with the name of BlockNote in its form', () => {
  expect(
    stored('# A\n\n**b** [c](https://c/ "t")\n\n---\n\n```js\nd\n```\n\n```\ne\n```\n\n![f](/g "h")'),
  ).toBe(
    added('<heading level="1">A</heading>') +
      added('<paragraph><bold>b</bold> <link href="https://c/">c</link></paragraph>') +
      added('<divider/>') +
      added('<codeBlock language="js">d</codeBlock>') +
      added('<codeBlock language="text">e</codeBlock>') +
      added('<image caption="h" name="f" url="/g"/>'),
  )
})

test('[FMT-100] stores HTML as nested blocks, and reads it back', () => {
  const doc = new Y.Doc()
  writeNote(doc, '<ul><li>a<ol start="3"><li>b<li>c</ol></ul><blockquote>d</blockquote>', 'html')
  expect(shownNote(doc)).toBe(
    added(
      '<bulletListItem>a</bulletListItem>',
      added('<numberedListItem start="3">b</numberedListItem>'),
      added('<numberedListItem>c</numberedListItem>'),
    ) + added('<quote>d</quote>'),
  )
  expect(readNote(doc, 'html')).toBe(
    '<ul>\n<li>a\n<ol start="3">\n<li>b</li>\n<li>c</li>\n</ol></li>\n</ul>\n<blockquote>\n<p>d</p>\n</blockquote>',
  )
})

test('[FMT-101] nests lists in items and blocks in quotes, and reads them back', () => {
  const text = '- a\n\n  - b\n\n    para\n- [ ] c\n\n1. d\n2. e\n\n> f\n>\n> - g\n'
  const xml =
    added(
      '<bulletListItem>a</bulletListItem>',
      added('<bulletListItem>b</bulletListItem>', added('<paragraph>para</paragraph>')),
    ) +
    added('<checkListItem checked="false">c</checkListItem>') +
    added('<numberedListItem>d</numberedListItem>') +
    added('<numberedListItem>e</numberedListItem>') +
    added('<quote>f</quote>', added('<bulletListItem>g</bulletListItem>'))
  expect(stored(text)).toBe(xml)
  const doc = new Y.Doc()
  writeNote(doc, text)
  expect(readNote(doc)).toBe('- a\n  - b\n\n    para\n\n* [ ] c\n\n1. d\n2. e\n\n> f\n>\n> - g\n')
})

const nested = (): Y.Doc =>
  noteOf(
    container(
      'p',
      '<paragraph>one</paragraph>',
      container('c', '<paragraph>two</paragraph>', container('d', '<heading level="2">three</heading>')),
      container('e', '<bulletListItem>four</bulletListItem>'),
    ),
    container('f', '<paragraph>five</paragraph>'),
  )

test('[FMT-101] shows blocks in other blocks after them, and keeps their nesting', () => {
  const doc = nested()
  const before = shownNote(doc)
  expect(readNote(doc)).toBe('one\n\ntwo\n\n## three\n\n- four\n\nfive\n')
  expect(rewritten(doc, ['three', '3'], ['four', '4'])).toBe(
    before.replace('three', '3').replace('four', '4'),
  )
})

test('[FMT-101] nests a new block like the block after it, and lifts the blocks of a deleted one', () => {
  expect(rewritten(nested(), ['## three', 'x\n\n## three'])).toContain(
    container(
      'c',
      '<paragraph>two</paragraph>',
      added('<paragraph>x</paragraph>'),
      container('d', '<heading level="2">three</heading>'),
    ),
  )
  expect(rewritten(nested(), ['two\n\n', ''])).toBe(
    container(
      'p',
      '<paragraph>one</paragraph>',
      container('d', '<heading level="2">three</heading>'),
      container('e', '<bulletListItem>four</bulletListItem>'),
    ) + container('f', '<paragraph>five</paragraph>'),
  )
  expect(rewritten(nested(), ['one\n\ntwo\n\n', ''])).toBe(
    container('d', '<heading level="2">three</heading>') +
      container('e', '<bulletListItem>four</bulletListItem>') +
      container('f', '<paragraph>five</paragraph>'),
  )
})

test('[FMT-103] keeps each item of a list when others are inserted, divided and removed', () => {
  const item = (id: string): string =>
    container(id, `<bulletListItem textColor="red">item ${id}</bulletListItem>`)
  const doc = noteOf(item('a'), item('b'), item('c'))
  const before = identities(doc, noteKey)
  writeNote(doc, '- item a\n- new\n\nbetween\n\n- item b\n- item c\n')
  expect(shownNote(doc)).toBe(
    item('a') +
      added('<bulletListItem>new</bulletListItem>') +
      added('<paragraph>between</paragraph>') +
      item('b') +
      item('c'),
  )
  const after = identities(doc, noteKey)
  for (const [id, name] of before) expect(after.get(id)).toBe(name)
  writeNote(doc, '- item b\n- item c')
  expect(idsIn(doc)).toEqual(['b', 'c'])
})

test('[FMT-103] numbers a list by its first item only', () => {
  const doc = noteOf(
    container('a', '<numberedListItem start="3">a</numberedListItem>'),
    container('b', '<numberedListItem>b</numberedListItem>'),
  )
  expect(readNote(doc)).toBe('3. a\n4. b\n')
  expect(rewritten(doc, ['3. a\n', ''])).toBe(
    container('b', '<numberedListItem start="4">b</numberedListItem>'),
  )
  expect(rewritten(doc, ['4. b', '1. b'])).toBe(container('b', '<numberedListItem>b</numberedListItem>'))
})

test('[FMT-104] keeps what the format cannot represent on blocks and text that stay', () => {
  const doc = noteOf(
    container('h', '<heading isToggleable="true" level="1" textAlignment="center">Plan</heading>'),
    container(
      't',
      '<toggleListItem backgroundColor="red">more <textColor stringValue="red">red</textColor> words</toggleListItem>',
    ),
    container('i', '<image caption="c" name="n" previewWidth="80" showPreview="false" url="/i"/>'),
    container('b', '<checkListItem checked="false" textColor="red">task</checkListItem>'),
  )
  const before = shownNote(doc)
  expect(rewritten(doc, ['# Plan', '## Plans'], ['words', 'text'], ['/i', '/j'], ['[ ]', '[x]'])).toBe(
    before
      .replace('level="1"', 'level="2"')
      .replace('Plan', 'Plans')
      .replace('words', 'text')
      .replace('/i"', '/j"')
      .replace('checked="false"', 'checked="true"'),
  )
})

test('[FMT-106] shows custom blocks and atoms as placeholders, without the blocks in them', () => {
  const doc = noteOf(
    container('v', '<video url="/v"/>', container('n', '<paragraph>nested</paragraph>')),
    container('m', '<paragraph>for <mention user="a"/></paragraph>'),
    '<columnList><column><blockContainer id="x"><paragraph>in a column</paragraph></blockContainer></column></columnList>',
  )
  const text = readNote(doc)
  expect(text).toMatch(
    /^```weft-block \d+-\d+ video\n```\n\nnested\n\nfor !\[mention\]\(weft-inline:\d+-\d+\)\n\n```weft-block \d+-\d+ columnList\n```\n$/,
  )
  const before = shownNote(doc)
  expect(rewritten(doc, ['for', 'with'])).toBe(before.replace('for', 'with'))
  expect(
    rewritten(doc, [/```weft-block .* columnList\n```\n/, ''], [/```weft-block .* video\n```\n/, '']),
  ).toBe(
    container('n', '<paragraph>nested</paragraph>') +
      container('m', '<paragraph>with <mention user="a"/></paragraph>'),
  )
})

test('[FMT-106] gives the copies of a placeholder new ids', () => {
  const doc = noteOf(
    container('v', '<video url="/v"/>'),
    '<columnList><column><blockContainer id="x"><paragraph>a</paragraph></blockContainer></column></columnList>',
  )
  writeNote(doc, readNote(doc).repeat(2))
  const ids = idsIn(doc)
  expect(ids.length).toBe(4)
  expect(new Set(ids).size).toBe(4)
})

test('[FMT-107] stores content that BlockNote cannot represent in the nearest form', () => {
  expect(stored('> a\n>\n> b\n\n**`c`** [`d`](https://d/)')).toBe(
    added('<quote>a<hardBreak/>b</quote>') + added('<paragraph><code>c</code> <code>d</code></paragraph>'),
  )
  expect(stored('- # a\n- ![b](/c)\n\n> ## d')).toBe(
    added('<bulletListItem/>', added('<heading level="1">a</heading>')) +
      added('<bulletListItem/>', added('<image name="b" url="/c"/>')) +
      added('<quote/>', added('<heading level="2">d</heading>')),
  )
  const cell = (name: string, content: string): string =>
    `<${name}><tableParagraph>${content}</tableParagraph></${name}>`.replace(
      '<tableParagraph></tableParagraph>',
      '<tableParagraph/>',
    )
  expect(
    stored(
      '<table><tr><td><ul><li>a<li>b</ul><td><img src="/c" alt="d"><tr><td><table><tr><td>e</table><td></table>',
      'html',
    ),
  ).toBe(
    added(
      `<table><tableRow>${cell('tableCell', 'a<hardBreak/>b')}${cell('tableCell', '<link href="/c">d</link>')}</tableRow>` +
        `<tableRow>${cell('tableCell', 'e')}${cell('tableCell', '')}</tableRow></table>`,
    ),
  )
})

test('[FMT-107] has an empty header row in Markdown for a table without one', () => {
  const row = (...cells: string[]): string =>
    `<tableRow>${cells.map((cell) => `<tableCell backgroundColor="red"><tableParagraph>${cell}</tableParagraph></tableCell>`).join('')}</tableRow>`
  const table = (...rows: string[]): string => container('t', `<table>${rows.join('')}</table>`)
  const doc = noteOf(table(row('a', 'b'), row('c', 'd')))
  expect(readNote(doc)).toBe('| | |\n| - | - |\n| a | b |\n| c | d |\n')
  expect(rewritten(doc, ['d', 'e'])).toBe(table(row('a', 'b'), row('c', 'e')))
  expect(stored('|  |\n|--|\n| a |')).toBe(
    added('<table><tableRow><tableCell><tableParagraph>a</tableParagraph></tableCell></tableRow></table>'),
  )
  expect(rewritten(doc, ['| | |', '| x | |'])).toBe(
    table(
      '<tableRow><tableHeader><tableParagraph>x</tableParagraph></tableHeader><tableHeader><tableParagraph/></tableHeader></tableRow>',
      row('a', 'b'),
      row('c', 'e'),
    ),
  )
})

test('[FMT-107] keeps header cells and the alignment of cells in Markdown', () => {
  const table =
    '<table><tableRow><tableHeader textAlignment="right"><tableParagraph>a</tableParagraph></tableHeader><tableHeader><tableParagraph>b</tableParagraph></tableHeader></tableRow>' +
    '<tableRow><tableHeader textAlignment="justify"><tableParagraph>c</tableParagraph></tableHeader><tableCell><tableParagraph>d</tableParagraph></tableCell></tableRow></table>'
  const doc = noteOf(container('t', table))
  const before = shownNote(doc)
  expect(readNote(doc)).toBe('| a | b |\n| -: | - |\n| c | d |\n')
  expect(rewritten(doc, ['a', 'x'], ['c', 'y'])).toBe(before.replace('>a<', '>x<').replace('>c<', '>y<'))
})

test('[FMT-108] leaves one empty block when all content is removed', () => {
  const doc = noteOf(container('a', '<paragraph>one</paragraph>'))
  writeNote(doc, '')
  expect(shownNote(doc)).toBe(added('<paragraph/>'))
  expect(updatesOf(doc, () => writeNote(doc, ''))).toEqual([])
  expect(stored('')).toBe('')
})

test('[FMT-108] keeps the content of a root that does not have the form of BlockNote', () => {
  const group = (id: string): string =>
    `<blockGroup>${container(id, '<paragraph>one</paragraph>')}</blockGroup>`
  const data = group('a') + group('b')
  const doc = docOf(data, noteKey)
  const text = readNote(doc)
  expect(updatesOf(doc, () => writeNote(doc, text))).toEqual([])
  writeNote(doc, `${text}\ntwo\n`)
  const block = added('<paragraph>two</paragraph>')
  expect(`<blockGroup>${shownNote(doc)}</blockGroup>`).toBe(`${data}<blockGroup>${block}</blockGroup>`)
})

test('[FMT-109] rejects content that is nested deeper than shared types can be', () => {
  const deep = (levels: number): string => `${'<blockquote>'.repeat(levels)}a`
  expect(refusal(() => stored(deep(limits.typeDepth / 2), 'html'))).toContain('deep')
  expect(stored(deep(limits.typeDepth / 2 - 2), 'html')).toContain('a')
})

test('[FMT-100] follows an attached schema in a root with another name', () => {
  const schema = schemaOf({ name: 'blocknote', spec: null }) as CompiledSchema
  const doc = new Y.Doc()
  const target = checkFormatted(markdownFormat, '- a\n- **`b`**')
  replaceXmlBlocks(doc, 'other', target, schema)
  checkAgainstSchema(doc, 'other', schema, 'blocknote')
  expect(xmlOf(doc, 'other')).toMatch(/^<blockGroup>.*<bulletListItem .*<code>b<\/code>/)
  expect(replaceXmlBlocks(doc, 'other', target, schema)).toMatchObject({ changed: false })
})
