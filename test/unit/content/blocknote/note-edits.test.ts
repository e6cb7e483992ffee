import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { checkEditContent } from '../../../../src/core/content/edit/check-edits.ts'
import type { Edit, InsertedContent } from '../../../../src/core/content/edit/edit.ts'
import { applyEdits, attribute, block, heading, insert, quote } from '../edit/edit-support.ts'
import { identities } from '../xml-support.ts'
import { container, noteKey, noteOf, shownNote, type TextFormat } from './note-support.ts'

const formats: readonly TextFormat[] = ['markdown', 'html']

const content = (text: string, format: TextFormat = 'markdown'): InsertedContent =>
  checkEditContent(text, format, 'content')

const replace = (target: Extract<Edit, { is: 'replace' }>['target'], text: string): Edit => ({
  is: 'replace',
  target,
  content: content(text),
})

const a = container('a', '<heading level="1" textAlignment="center">A</heading>')
const b = container(
  'b',
  '<paragraph textColor="red">one two three</paragraph>',
  container('c', '<bulletListItem>nested</bulletListItem>'),
)
const d = container('d', '<heading level="1">D</heading>')
const e = container('e', '<checkListItem checked="true">last</checkListItem>')
const plan = [a, b, d, e]

const added = (inner: string, ...nested: string[]): string => container('new', inner, ...nested)
const x = added('<paragraph>x</paragraph>')
const y = added('<bulletListItem>y</bulletListItem>', added('<bulletListItem>z</bulletListItem>'))

function edited(...edits: Edit[]): string {
  const doc = noteOf(...plan)
  const before = identities(doc, noteKey)
  applyEdits(doc, 'xml', noteKey, ...edits)
  const after = identities(doc, noteKey)
  if (edits.every(({ is }) => is === 'insert'))
    for (const id of before.keys()) expect(after.has(id)).toBe(true)
  return shownNote(doc)
}

const texts: Readonly<Record<TextFormat, string>> = {
  markdown: 'x\n\n- y\n  - z',
  html: '<p>x</p><ul><li>y<ul><li>z</ul></ul>',
}

test.each(formats)('[FMT-110] inserts %s at each place in the form of BlockNote', (format) => {
  const inserted = content(texts[format], format)
  expect(edited(insert({ at: 'start' }, inserted))).toBe([x, y, ...plan].join(''))
  expect(edited(insert({ at: 'end' }, inserted))).toBe([...plan, x, y].join(''))
  expect(edited(insert({ at: 'after', target: block(0) }, inserted))).toBe([a, x, y, b, d, e].join(''))
  expect(edited(insert({ at: 'before', target: heading('D') }, inserted))).toBe([a, b, x, y, d, e].join(''))
  expect(edited(insert({ at: 'into', target: heading('A') }, inserted))).toBe([a, b, x, y, d, e].join(''))
  expect(edited(insert({ at: 'after', target: block(1) }, inserted))).toBe([a, b, x, y, d, e].join(''))
  expect(edited(insert({ at: 'before', target: quote('nested') }, inserted))).toBe(
    [a, b.replace('<blockContainer id="c">', `${x}${y}<blockContainer id="c">`), d, e].join(''),
  )
})

test('[FMT-110] inserts into the nested blocks of a block that is named by its id', () => {
  const inserted = content(texts.markdown)
  expect(edited(insert({ at: 'into', target: attribute('id', 'b') }, inserted))).toBe(
    [a, b.replace(/<\/blockGroup><\/blockContainer>$/, `${x}${y}</blockGroup></blockContainer>`), d, e].join(
      '',
    ),
  )
  expect(edited(insert({ at: 'into', target: attribute('id', 'd') }, inserted))).toBe(
    [a, b, container('d', '<heading level="1">D</heading>', x, y), e].join(''),
  )
})

test('[FMT-110] inserts a line into a text without a container', () => {
  expect(edited(insert({ at: 'after', target: quote('one') }, content(' **bold**')))).toBe(
    [a, b.replace('one', 'one <bold>bold</bold>'), d, e].join(''),
  )
})

test('[FMT-110] inserts into an empty root', () => {
  for (const format of formats) {
    const doc = new Y.Doc()
    doc.get(noteKey)
    applyEdits(doc, 'xml', noteKey, insert({ at: 'end' }, content(texts[format], format)))
    expect(shownNote(doc)).toBe(x + y)
  }
})

test('[FMT-110] replaces a quote in a block, and keeps the block', () => {
  expect(edited(replace(quote('two'), '*2*'))).toBe(
    [a, b.replace('two', '<italic>2</italic>'), d, e].join(''),
  )
})

test('[FMT-110] replaces a whole block, and keeps its id, its style and its nested blocks', () => {
  expect(edited(replace(quote('one two three'), 'four **five**'))).toBe(
    [a, b.replace('one two three', 'four <bold>five</bold>'), d, e].join(''),
  )
  expect(edited(replace(heading('A'), '## B\n\nx'))).toBe(
    [a.replace('level="1"', 'level="2"').replace('>A<', '>B<'), x, b, d, e].join(''),
  )
  expect(edited(replace(block(1), '- y\n  - z'))).toBe(
    [
      a,
      container(
        'b',
        '<bulletListItem>y</bulletListItem>',
        added('<bulletListItem>z</bulletListItem>'),
        container('c', '<bulletListItem>nested</bulletListItem>'),
      ),
      d,
      e,
    ].join(''),
  )
  expect(edited(replace(attribute('id', 'e'), '- [ ] last'))).toBe(
    [a, b, d, e.replace('true', 'false')].join(''),
  )
  expect(edited(replace(attribute('id', 'b'), 'six'))).toBe(
    [a, container('b', '<paragraph textColor="red">six</paragraph>'), d, e].join(''),
  )
})

test('[FMT-110] removes a block whose new content is empty', () => {
  expect(edited(replace(block(1), ''))).toBe([a, d, e].join(''))
})
