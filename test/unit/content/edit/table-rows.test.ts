import { expect, test } from 'vitest'
import * as Y from 'yjs'
import type { ApiError } from '../../../../src/core/base/errors.ts'
import { checkEditContent } from '../../../../src/core/content/edit/check-edits.ts'
import type { Edit, EditTarget, InsertedContent } from '../../../../src/core/content/edit/edit.ts'
import { docOf, identities, richKey, xmlOf } from '../xml-support.ts'
import {
  applyEdits,
  attribute,
  attributes,
  block,
  candidatesOf,
  content,
  heading,
  insert,
  quote,
  rejectionOf,
  remove,
  replace,
  row as rowWith,
  xml,
} from './edit-support.ts'

const markdown = (text: string): InsertedContent => checkEditContent(text, 'markdown', 'content')
const html = (text: string): InsertedContent => checkEditContent(text, 'html', 'content')
const proseMirror = (content: unknown): InsertedContent => checkEditContent(content, 'prosemirror', 'content')

function edited(data: string, ...edits: Edit[]): string {
  const doc = docOf(data, richKey)
  applyEdits(doc, 'xml', richKey, ...edits)
  return xmlOf(doc, richKey)
}

const messageOf = (data: string, edit: Edit): string => {
  const error = rejectionOf(docOf(data, richKey), 'xml', richKey, edit)
  expect(error.code).toBe('crdt/edit-not-supported')
  return error.message
}

const after = (target: EditTarget, content: InsertedContent): Edit => insert({ at: 'after', target }, content)
const before = (target: EditTarget, content: InsertedContent): Edit =>
  insert({ at: 'before', target }, content)

/** A row of Tiptap, with the attributes of its cells after their texts. */
const rowOf =
  (kind: 'tableCell' | 'tableHeader') =>
  (...texts: string[]): string =>
    `<tableRow>${texts.map((text) => cell(kind, text)).join('')}</tableRow>`
const cell = (kind: string, text: string, more = ''): string =>
  `<${kind}${more === '' ? '' : ` ${more}`} colspan="1" rowspan="1"><paragraph>${text}</paragraph></${kind}>`.replace(
    '<paragraph></paragraph>',
    '<paragraph/>',
  )
const head = rowOf('tableHeader')
const row = rowOf('tableCell')
const table = (...rows: string[]): string => `<table>${rows.join('')}</table>`
const added = markdown('| a | b |\n| - | - |\n| 3 | 4 |')
const stored = table(head('a', 'b'), row('1', '2'))

test('[EDIT-93] inserts the rows of a table next to the row of a cell', () => {
  const below = table(head('a', 'b'), row('1', '2'), row('3', '4'))
  expect(edited(stored, after(quote('2'), added))).toBe(below)
  expect(edited(stored, after(block(3), added))).toBe(below)
  expect(edited(stored, after(block(2), added))).toBe(below)
  const above = table(head('a', 'b'), row('3', '4'), row('1', '2'))
  expect(edited(stored, before(quote('2'), added))).toBe(above)
  expect(edited(stored, after(quote('b'), added))).toBe(above)
  const twoRows = markdown('|  |  |\n| - | - |\n| 3 | **4** |\n| 5 |  |')
  expect(edited(stored, after(quote('1'), twoRows))).toBe(
    table(head('a', 'b'), row('1', '2'), row('3', '<bold>4</bold>'), row('5', '')),
  )
  const web = html('<table><tr><td>3</td><td>4</td></tr></table>')
  expect(edited(stored, after(quote('1'), web))).toBe(below)
})

test('[EDIT-93] keeps the identity of all other rows', () => {
  const doc = docOf(stored, richKey)
  const ids = identities(doc, richKey)
  applyEdits(doc, 'xml', richKey, before(quote('1'), added))
  expect([...identities(doc, richKey)]).toEqual(expect.arrayContaining([...ids]))
})

test('[EDIT-93] compares header rows by their text, and needs none in a table without a header row', () => {
  const formatted = table(head('<bold>a</bold>', 'b'), row('1', '2'))
  expect(edited(formatted, after(quote('2'), added))).toContain(row('3', '4'))
  const plain = table(row('1', '2'))
  const noHeader = markdown('| | |\n| - | - |\n| 3 | 4 |')
  expect(edited(plain, before(quote('1'), noHeader))).toBe(table(row('3', '4'), row('1', '2')))
  expect(messageOf(plain, before(quote('1'), added))).toContain('leave its cells empty')
})

test('[EDIT-93] gives new rows the header cells, the alignment and the width of their columns', () => {
  const wide = (kind: string, text: string, more: string): string =>
    `<${kind} align="right" colspan="1" colwidth="${more}" rowspan="1"><paragraph>${text}</paragraph></${kind}>`
  const first = wide('tableHeader', '1', '[100]')
  const data = table(
    `<tableRow>${cell('tableHeader', 'a')}${cell('tableHeader', 'b')}</tableRow>`,
    `<tableRow>${first}${cell('tableCell', '2')}</tableRow>`,
  )
  const result = `<tableRow>${first.replace('>1<', '>3<')}${cell('tableCell', '4')}</tableRow>`
  expect(edited(data, after(quote('2'), added))).toBe(data.replace('</table>', `${result}</table>`))
  expect(edited(data, after(quote('b'), added))).toBe(
    data.replace(`<tableRow>${first}`, `${result}<tableRow>${first}`),
  )
})

test('[EDIT-93] joins a table next to the place, if it has as many columns and no other header row', () => {
  const data = `<heading level="1">T</heading>${stored}<paragraph>end</paragraph>`
  const below = data.replace('</table>', `${row('3', '4')}</table>`)
  const above = data.replace(row('1', '2'), row('3', '4') + row('1', '2'))
  expect(edited(data, before(block(5), added))).toBe(below)
  expect(edited(data, after(block(0), added))).toBe(above)
  expect(edited(data, insert({ at: 'into', target: heading('T') }, added))).toBe(
    data + table(head('a', 'b'), row('3', '4')),
  )
  expect(edited(stored, insert({ at: 'end' }, added))).toBe(
    table(head('a', 'b'), row('1', '2'), row('3', '4')),
  )
  expect(edited(stored, insert({ at: 'start' }, added))).toBe(
    table(head('a', 'b'), row('3', '4'), row('1', '2')),
  )
  const other = markdown('| a | c |\n| - | - |\n| 3 | 4 |')
  const three = markdown('| a | b | c |\n| - | - | - |\n| 3 | 4 | 5 |')
  expect(edited(stored, insert({ at: 'end' }, other))).toBe(stored + table(head('a', 'c'), row('3', '4')))
  expect(edited(stored, insert({ at: 'end' }, three))).toBe(
    stored + table(head('a', 'b', 'c'), row('3', '4', '5')),
  )
})

test('[EDIT-95] rejects rows that the table cannot have, with the remedy', () => {
  const three = markdown('| a | b | c |\n| - | - | - |\n| 3 | 4 | 5 |')
  expect(messageOf(stored, after(quote('2'), three))).toContain('send rows with 2 columns')
  const other = markdown('| a | c |\n| - | - |\n| 3 | 4 |')
  expect(messageOf(stored, after(quote('2'), other))).toContain('repeat the header row of the table')
  expect(messageOf(stored, before(quote('a'), added))).toContain('insert them after it')
  const mixed = markdown('text\n\n| a | b |\n| - | - |\n| 3 | 4 |')
  expect(messageOf(stored, after(block(3), mixed))).toContain('send only rows')
  expect(messageOf(stored, replace(block(3), added))).toContain('insert its rows before or after')
  expect(messageOf(stored, after(quote('2'), xml('<tableRow><tableCell/></tableRow>')))).toContain(
    'send 2 cells',
  )
  const html3 = '<table><tr><td>3</td><td>4</td></tr><tr><td>3</td><td>4</td><td>5</td></tr></table>'
  expect(messageOf(stored, after(quote('2'), html(html3)))).toContain('send rows with 2 columns')
})

test('[EDIT-94] inserts rows of XML and ProseMirror JSON next to the row of a cell', () => {
  const rows = row('3', '4') + row('5', '6')
  expect(edited(stored, after(quote('1'), xml(rows)))).toBe(stored.replace('</table>', `${rows}</table>`))
  expect(edited(stored, before(block(0), xml(rows)))).toBe(stored.replace('<table>', `<table>${rows}`))
  const content = ['3', '4'].map((text) => ({
    type: 'tableCell',
    attrs: { colspan: 1, rowspan: 1 },
    content: [{ type: 'paragraph', content: [{ type: 'text', text }] }],
  }))
  expect(edited(stored, after(quote('2'), proseMirror([{ type: 'tableRow', content }])))).toBe(
    stored.replace('</table>', `${row('3', '4')}</table>`),
  )
})

test('[EDIT-94] nests a table of XML in a cell', () => {
  const nested = table(row('3', '4'))
  expect(edited(stored, after(block(3), xml(nested)))).toBe(
    stored.replace('<paragraph>2</paragraph>', `<paragraph>2</paragraph>${nested}`),
  )
  const inner = edited(stored, after(block(3), xml(nested)), after(quote('4'), xml(row('5', '6'))))
  expect(inner).toContain(row('3', '4') + row('5', '6'))
})

test('[EDIT-94] inserts rows in a document of HTML names, where cells have text', () => {
  const data = '<table><tbody><tr><th>1</th><td>2</td></tr></tbody></table>'
  expect(edited(data, after(quote('2'), xml('<tr><th>3</th><td>4</td></tr>')))).toBe(
    data.replace('</tr>', '</tr><tr><th>3</th><td>4</td></tr>'),
  )
  expect(messageOf(data, after(quote('2'), markdown('| | |\n| - | - |\n| 3 | 4 |')))).toContain('as XML')
})

const merged = (kind: 'colspan' | 'rowspan', text: string): string =>
  kind === 'colspan'
    ? `<tableCell colspan="2" rowspan="1"><paragraph>${text}</paragraph></tableCell>`
    : `<tableCell colspan="1" rowspan="2"><paragraph>${text}</paragraph></tableCell>`

test('[EDIT-95] counts merged cells as columns, and rejects rows between the rows of a cell', () => {
  const wide = `<tableRow>${merged('colspan', 'wide')}</tableRow>`
  const data = table(head('a', 'b'), wide)
  expect(edited(data, after(quote('wide'), added))).toBe(table(head('a', 'b'), wide, row('3', '4')))
  const high = `<tableRow>${merged('rowspan', 'high')}${cell('tableCell', '1')}</tableRow>`
  const spanned = table(head('a', 'b'), high, row('2'), row('x', 'y'))
  expect(messageOf(spanned, after(quote('high'), added))).toContain('use a target in another row')
  expect(edited(spanned, before(quote('high'), added))).toBe(
    table(head('a', 'b'), row('3', '4'), high, row('2'), row('x', 'y')),
  )
  expect(edited(spanned, after(quote('2'), added))).toBe(
    table(head('a', 'b'), high, row('2'), row('3', '4'), row('x', 'y')),
  )
  // A row of XML can leave out the column of the cell.
  expect(edited(spanned, after(quote('high'), xml(row('3'))))).toBe(
    table(head('a', 'b'), high, row('3'), row('2'), row('x', 'y')),
  )
})

test('[EDIT-93] replaces a row by rows', () => {
  const data = stored.replace('<tableRow><tableCell', '<tableRow id="r"><tableCell')
  const three = markdown('| a | b |\n| - | - |\n| 1 | 5 |\n| 3 | 4 |')
  const doc = docOf(data, richKey)
  const ids = [...identities(doc, richKey)].filter(([, name]) => name === 'tableRow')
  applyEdits(doc, 'xml', richKey, replace(attribute('id', 'r'), three))
  expect(xmlOf(doc, richKey)).toBe(table(head('a', 'b'), row('1', '5'), row('3', '4')))
  expect([...identities(doc, richKey)]).toEqual(expect.arrayContaining(ids))
  const newHead = markdown('| x | y |\n| - | - |')
  const headed = data.replace(' id="r"', '').replace('<tableRow>', '<tableRow id="h">')
  expect(edited(headed, replace(attribute('id', 'h'), newHead))).toBe(table(head('x', 'y'), row('1', '2')))
})

test('[EDIT-96] finds a row by the text of a cell, and removes, replaces and extends it', () => {
  const data = table(head('a', 'b'), row('1', 'x'), row('2', 'x'))
  expect(edited(data, remove(rowWith(' 1')))).toBe(table(head('a', 'b'), row('2', 'x')))
  expect(edited(data, remove(rowWith('x', 2)))).toBe(table(head('a', 'b'), row('1', 'x')))
  expect(edited(data, after(rowWith('1'), added))).toBe(
    table(head('a', 'b'), row('1', 'x'), row('3', '4'), row('2', 'x')),
  )
  expect(edited(data, before(rowWith('1'), xml(row('3', '4'))))).toBe(
    table(head('a', 'b'), row('3', '4'), row('1', 'x'), row('2', 'x')),
  )
  expect(edited(data, replace(rowWith('1'), added))).toBe(table(head('a', 'b'), row('3', '4'), row('2', 'x')))
  expect(edited(data, replace(rowWith('a'), markdown('| c | d |\n| - | - |')))).toBe(
    table(head('c', 'd'), row('1', 'x'), row('2', 'x')),
  )
  expect(edited(data, attributes(rowWith('1'), { id: 'r' }))).toContain('<tableRow id="r">')
  const one = `${table(row('1', '2'))}<paragraph>end</paragraph>`
  expect(edited(one, remove(rowWith('2')))).toBe('<paragraph>end</paragraph>')
})

test('[EDIT-96] counts a row once, and the row of the innermost table', () => {
  const twice = table(row('1', '1'), row('2', '3'))
  expect(edited(twice, remove(rowWith('1')))).toBe(table(row('2', '3')))
  const inner = table(row('i', 'j'), row('k', 'l'))
  const outer = table(row('1', '2'), row('3', '4')).replace('<paragraph>2', `${inner}<paragraph>2`)
  expect(edited(outer, remove(rowWith('i')))).toBe(outer.replace(row('i', 'j'), ''))
  expect(edited(outer, remove(rowWith('1')))).toBe(table(row('3', '4')))
})

test('[EDIT-4] [EDIT-96] rejects a row that is missing or ambiguous', () => {
  const data = `<paragraph>one</paragraph>${table(row('1 one', 'x'), row('2', 'x'))}`
  const rejected = (target: EditTarget): ApiError =>
    rejectionOf(docOf(data, richKey), 'xml', richKey, remove(target))
  expect(rejected(rowWith('x')).code).toBe('crdt/target-ambiguous')
  expect(rejected(rowWith('one')).code).toBe('crdt/target-not-found')
  expect(candidatesOf(rejected(rowWith('one')))).toEqual(['one'])
  expect(rejected(rowWith('x', 3)).code).toBe('crdt/target-not-found')
})

test('[EDIT-95] [EDIT-96] rejects other content than rows next to a row, and a removed row with merged cells', () => {
  expect(messageOf(stored, after(rowWith('1'), markdown('text')))).toContain('only rows')
  expect(messageOf(stored, after(rowWith('1'), content('text')))).toContain('only rows')
  expect(messageOf(stored, insert({ at: 'into', target: rowWith('1') }, added))).toContain('only rows')
  expect(messageOf(stored, replace(rowWith('1'), markdown('text')))).toContain('only rows')
  expect(messageOf(stored, replace(rowWith('1'), xml('<paragraph>x</paragraph>')))).toContain('only rows')
  const high = `<tableRow>${merged('rowspan', 'high')}${cell('tableCell', '1')}</tableRow>`
  const spanned = table(high, row('2'), row('x', 'y'))
  expect(messageOf(spanned, remove(rowWith('high')))).toContain('rowspan')
  expect(messageOf(spanned, remove(rowWith('2')))).toContain('rowspan')
  expect(messageOf(spanned, replace(rowWith('high'), xml(row('3', '4'))))).toContain('another row')
  expect(edited(spanned, replace(rowWith('2'), xml(row('3'))))).toBe(table(high, row('3'), row('x', 'y')))
  expect(edited(spanned, remove(rowWith('x')))).toBe(table(high, row('2')))
  const text = new Y.Doc()
  text.getText('content').insert(0, 'x')
  expect(rejectionOf(text, 'text', 'content', remove(rowWith('x'))).code).toBe('crdt/edit-not-supported')
})

const contained = (id: string, ...content: string[]): string =>
  `<blockContainer id="${id}">${content.join('')}</blockContainer>`
const noteCell = (kind: string, text: string): string =>
  `<${kind} backgroundColor="default" colspan="1" rowspan="1" textAlignment="left" textColor="default"><tableParagraph>${text}</tableParagraph></${kind}>`
const noteRow = (kind: string, ...texts: string[]): string =>
  `<tableRow>${texts.map((text) => noteCell(kind, text)).join('')}</tableRow>`

test('[EDIT-93] inserts rows into a table of BlockNote, and joins it', () => {
  const noteTable = (...rows: string[]): string =>
    `<blockGroup>${contained('t', `<table textColor="default">${rows.join('')}</table>`)}</blockGroup>`
  const [one, two] = [noteRow('tableCell', '1', '2'), noteRow('tableCell', '3', '4')]
  const noHeader = markdown('| | |\n| - | - |\n| 3 | 4 |')
  expect(edited(noteTable(one), after(quote('2'), noHeader))).toBe(noteTable(one, two))
  expect(edited(noteTable(one), before(block(0), noHeader))).toBe(noteTable(two, one))
  expect(edited(noteTable(one), insert({ at: 'end' }, noHeader))).toBe(noteTable(one, two))
  const header = noteRow('tableHeader', 'a', 'b')
  expect(edited(noteTable(header, one), after(quote('2'), added))).toBe(noteTable(header, one, two))
  expect(edited(noteTable(header, one), after(quote('2'), xml(two)))).toBe(noteTable(header, one, two))
})
