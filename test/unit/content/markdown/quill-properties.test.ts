import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { times } from '../../../support/time/full-run.ts'
import { unitsOf, updatesOf } from '../support.ts'
import { delta, type Op, quillDoc, quillKey, read, write } from './quill-support.ts'

const words = fc
  .array(
    fc.constantFrom(
      'a',
      'the fox',
      ' ',
      '*',
      '_x_',
      '1.',
      '- ',
      '#',
      '`',
      '[b](c)',
      '<b>',
      '\\',
      '&amp;',
      '漢',
    ),
    {
      maxLength: 4,
    },
  )
  .map((parts) => parts.join(''))

const textAttributes = fc.constantFrom<Op['attributes']>(
  undefined,
  { bold: true },
  { italic: true, strike: true },
  { code: true },
  { link: 'https://example.com/' },
  { color: 'red' },
  { bold: true, background: '#ff0', comment: { id: 1 } },
)

const text = fc
  .tuple(words, textAttributes)
  .map(([insert, attributes]): Op => ({ insert, ...(attributes && { attributes }) }))

const embed = fc.constantFrom<Op>(
  { insert: { image: '/a.png' } },
  { insert: { image: '/b.png' }, attributes: { width: '30', alt: 'b', link: 'https://example.com/' } },
  { insert: { formula: 'x' }, attributes: { color: 'red' } },
  { insert: { mention: { id: '1' } } },
)

const lineAttributes = fc.constantFrom<Op['attributes']>(
  undefined,
  { header: 1 },
  { header: 3, align: 'center' },
  { header: 9 },
  { list: 'bullet' },
  { list: 'bullet', indent: 1 },
  { list: 'ordered', indent: 3 },
  { list: 'ordered' },
  { list: 'checked' },
  { list: 'unchecked', indent: 1, align: 'right' },
  { list: 'bullet', indent: '2' },
  { list: 'other' },
  { blockquote: true },
  { blockquote: true, list: 'bullet' },
  { 'code-block': true },
  { 'code-block': 'plain' },
  { 'code-block': 'javascript' },
  { indent: 2 },
  { table: 'row-1' },
  { direction: 'rtl', bold: true },
)

const line = fc
  .tuple(
    fc.array(fc.oneof({ weight: 4, arbitrary: text }, { weight: 1, arbitrary: embed }), { maxLength: 3 }),
    lineAttributes,
  )
  .map(([content, attributes]): Op[] => [...content, { insert: '\n', ...(attributes && { attributes }) }])

const video = fc.constant<Op[]>([{ insert: { video: 'https://example.com/v' } }])

/** Documents of Quill, whose last line may have no line break. */
const documents = fc
  .tuple(
    fc.array(fc.oneof({ weight: 8, arbitrary: line }, { weight: 1, arbitrary: video }), { maxLength: 8 }),
    words,
  )
  .map(([lines, end]) => [...lines.flat(), { insert: end }].filter(({ insert }) => insert !== ''))

const runs = { numRuns: times(100, 500) }

it('[FMT-125] writes nothing when the result of a read of any text of Quill is written back', () => {
  fc.assert(
    fc.property(documents, (ops) => {
      const doc = quillDoc(ops)
      expect(write(doc, read(doc))).toEqual([])
    }),
    runs,
  )
})

it('[FMT-128] changes nothing else when a paragraph is added', () => {
  fc.assert(
    fc.property(documents, (ops) => {
      const doc = quillDoc(ops)
      const before = unitsOf(doc, quillKey)
      const markdown = read(doc)
      // Content takes the place of the empty lines of an empty document.
      if (markdown === '') return
      const updates = write(doc, `${markdown}\nnew paragraph\n`)
      const after = unitsOf(doc, quillKey)
      const added = after.filter(({ id }) => !id.startsWith('1:'))
      expect(
        added
          .map(({ value }) => value)
          .join('')
          .trim(),
      ).toBe('new paragraph')
      expect(before.length - (after.length - added.length)).toBe(0)
      expect(updates.length).toBe(1)
    }),
    runs,
  )
})

it('[FMT-121] shows the same Markdown again after it was written into another text', () => {
  fc.assert(
    fc.property(documents, documents, (from, to) => {
      const markdown = read(quillDoc(from)).replace(/weft-(block|inline)/g, 'other')
      const doc = quillDoc(to)
      write(doc, markdown)
      const stored = delta(doc)
      expect(updatesOf(doc, () => void write(doc, read(doc)))).toEqual([])
      const again = quillDoc(stored as Op[])
      expect(read(again)).toBe(read(doc))
    }),
    runs,
  )
})
