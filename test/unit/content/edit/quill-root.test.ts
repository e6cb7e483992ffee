import { expect, test } from 'vitest'
import type * as Y from 'yjs'
import { checkEditContent } from '../../../../src/core/content/edit/check-edits.ts'
import type {
  Edit,
  EditTarget,
  InsertedContent,
  InsertPlace,
} from '../../../../src/core/content/edit/edit.ts'
import { br, delta, type Op, quillDoc, quillKey } from '../markdown/quill-support.ts'
import { unitsOf } from '../support.ts'
import { applyEdits, block, heading, insert, quote, rejectionOf } from './edit-support.ts'

const markdown = (text: string): InsertedContent => checkEditContent(text, 'markdown', 'content')
const added = (place: InsertPlace, text: string): Edit => insert(place, markdown(text))
const replaced = (target: EditTarget, text: string): Edit => ({
  is: 'replace',
  target,
  content: markdown(text),
})

const plan: Op[] = [
  { insert: 'Plan' },
  br({ header: 1, align: 'center' }),
  { insert: 'We ship on ' },
  { insert: 'monday', attributes: { color: 'red' } },
  { insert: { formula: 'x' } },
  { insert: '.\nRisks' },
  br({ header: 2 }),
  { insert: 'none' },
  br({ list: 'bullet', indent: 1 }),
  { insert: 'End' },
  br({ header: 2 }),
  { insert: 'last' },
]

/** Applies edits to the plan. Returns the operations that differ from the plan. */
function after(...edits: Edit[]): { doc: Y.Doc; ops: Op[] } {
  const doc = quillDoc(plan)
  const before = unitsOf(doc, quillKey)
  applyEdits(doc, 'text', quillKey, ...edits)
  const kept = unitsOf(doc, quillKey).filter(({ id }) => id.startsWith('1:'))
  const removed = before.filter(({ id }) => !kept.some((unit) => unit.id === id))
  expect(removed.length).toBeLessThan(8)
  return { doc, ops: delta(doc) as Op[] }
}

test('[FMT-130] inserts blocks of Markdown into a section, before a line and at both ends of a text of Quill', () => {
  const { ops } = after(
    added({ at: 'into', target: heading('Risks') }, '- **one**\n\n> two'),
    added({ at: 'before', target: block(1) }, '## Goals'),
    added({ at: 'start' }, 'first'),
    added({ at: 'end' }, 'a\n\n1. b'),
  )
  expect(ops).toEqual([
    { insert: 'first\nPlan' },
    br({ header: 1, align: 'center' }),
    { insert: 'Goals' },
    br({ header: 2 }),
    { insert: 'We ship on ' },
    { insert: 'monday', attributes: { color: 'red' } },
    { insert: { formula: 'x' } },
    { insert: '.\nRisks' },
    br({ header: 2 }),
    { insert: 'none' },
    br({ list: 'bullet', indent: 1 }),
    { insert: 'one', attributes: { bold: true } },
    br({ list: 'bullet' }),
    { insert: 'two' },
    br({ blockquote: true }),
    { insert: 'End' },
    br({ header: 2 }),
    { insert: 'last\na\nb' },
    br({ list: 'ordered' }),
  ])
})

test('[FMT-130] adds a line break to the last line of a text of Quill only if another line follows', () => {
  const doc = quillDoc([{ insert: 'a' }])
  applyEdits(doc, 'text', quillKey, added({ at: 'end' }, 'b'))
  expect(delta(doc)).toEqual([{ insert: 'a\nb' }])
  applyEdits(doc, 'text', quillKey, added({ at: 'after', target: block(1) }, 'c'))
  expect(delta(doc)).toEqual([{ insert: 'a\nb\nc' }])
})

test('[FMT-131] replaces a quote by formatted text, and keeps other formatting of text that stays', () => {
  const { ops, doc } = after(replaced(quote('ship on monday'), 'ship **on *monday***'))
  expect(ops.slice(2, 8)).toEqual([
    { insert: 'We ship ' },
    { insert: 'on ', attributes: { bold: true } },
    { insert: 'monday', attributes: { color: 'red', bold: true, italic: true } },
    { insert: { formula: 'x' } },
    { insert: '.\nRisks' },
    br({ header: 2 }),
  ])
  expect(unitsOf(doc, quillKey).every(({ id }) => id.startsWith('1:'))).toBe(true)
})

test('[FMT-131] inserts a paragraph next to a quote as a part of the line, and blocks as lines', () => {
  const { ops } = after(
    added({ at: 'after', target: quote('Risks') }, ' and **costs**'),
    added({ at: 'after', target: quote('ship') }, '- item'),
  )
  expect(ops.slice(5, 11)).toEqual([
    { insert: '.\nitem' },
    br({ list: 'bullet' }),
    { insert: 'Risks and ' },
    { insert: 'costs', attributes: { bold: true } },
    br({ header: 2 }),
    { insert: 'none' },
  ])
})

test('[FMT-131] replaces a line by blocks, and the text of an item by a paragraph', () => {
  const { ops } = after(replaced(block(3), '**some**'), replaced(heading('Risks'), '# Risks\n\n- new'))
  expect(ops.slice(5, 11)).toEqual([
    { insert: '.\nRisks' },
    br({ header: 1 }),
    { insert: 'new' },
    br({ list: 'bullet' }),
    { insert: 'some', attributes: { bold: true } },
    br({ list: 'bullet', indent: 1 }),
  ])
})

test('[FMT-131] rejects blocks in the place of a part of a line, and placeholders', () => {
  const doc = quillDoc(plan)
  expect(rejectionOf(doc, 'text', quillKey, replaced(quote('ship'), '- a')).message).toContain('whole lines')
  expect(
    rejectionOf(doc, 'text', quillKey, added({ at: 'into', target: block(1) }, '- a')).message,
  ).toContain('a line cannot contain blocks')
  expect(rejectionOf(doc, 'text', quillKey, added({ at: 'end' }, '![a](weft-inline:1-1)')).message).toContain(
    'placeholder',
  )
})

test('[FMT-124] inserts Markdown as source into a text without formatting', () => {
  const doc = quillDoc([{ insert: '# a\nb\n' }], 'content')
  applyEdits(
    doc,
    'text',
    'content',
    added({ at: 'after', target: block(0) }, '- **c**'),
    replaced(quote('b'), '*b*'),
  )
  expect(delta(doc, 'content')).toEqual([{ insert: '# a\n- **c**\n*b*\n' }])
})
