import * as fc from 'fast-check'
import type { Schema } from 'prosemirror-model'
import { describe, expect, it } from 'vitest'
import { serializeXml } from '../../../../src/core/content/xml/serialize.ts'
import { times } from '../../../support/time/full-run.ts'
import { loaded, updatesOf } from '../support.ts'
import { basicSchema, documents, shown, stored, tiptapSchema } from '../xml-editors.ts'
import { docOf } from '../xml-support.ts'
import { checkMarkdown, readMarkdown, replaceMarkdown } from './markdown-support.ts'

const schemas: readonly (readonly [string, Schema, string])[] = [
  ['ProseMirror', basicSchema, 'prosemirror'],
  ['Tiptap', tiptapSchema, 'default'],
]

describe.each(schemas)('Markdown of random documents of %s', (_, schema, key) => {
  it('[FMT-2] writes nothing when the result of a read is written back', () => {
    fc.assert(
      fc.property(documents(schema), (node) => {
        const doc = stored(node, key)
        const text = readMarkdown(doc, key)
        expect(updatesOf(doc, () => replaceMarkdown(doc, key, checkMarkdown(text)))).toEqual([])
      }),
      { numRuns: times(50, 400) },
    )
  })

  it('[FMT-4] changes no other block when a paragraph is added', () => {
    fc.assert(
      fc.property(documents(schema), (node) => {
        const doc = stored(node, key)
        const before = serializeXml(doc, key)
        // A paragraph fills the empty paragraph of an empty document.
        if (/^(<paragraph[^>]*\/>)*$/.test(before)) return
        const text = `${readMarkdown(doc, key)}\nnew paragraph\n`
        const updates = updatesOf(doc, () => replaceMarkdown(doc, key, checkMarkdown(text)))
        expect(serializeXml(doc, key)).toBe(`${before}<paragraph>new paragraph</paragraph>`)
        expect(updates.length).toBe(1)
        expect(updates[0]?.length).toBeLessThan(150)
      }),
      { numRuns: times(50, 400) },
    )
  })

  it('[FMT-7] stores Markdown in a form that the schema of the editor accepts', () => {
    fc.assert(
      fc.property(documents(schema), documents(schema), (node, other) => {
        const text = readMarkdown(stored(other, key), key)
          .replace(/weft-(block|inline)/g, 'other')
          // Images are blocks in Tiptap, but not in this schema.
          .replaceAll('![', '!\\[')
        const doc = stored(node, key)
        replaceMarkdown(doc, key, checkMarkdown(text))
        if (readMarkdown(doc, key) !== '') shown(loaded(doc), schema, key).check()
      }),
      { numRuns: times(50, 400) },
    )
  })
})

/** The kinds of blocks around a line: in XML, and in Markdown. */
const lineKinds: readonly (readonly [xml: (line: string) => string, prefix: string])[] = [
  [(line) => `<paragraph>${line}</paragraph>`, ''],
  [(line) => `<heading level="2">${line}</heading>`, '## '],
  [(line) => `<blockquote><paragraph>${line}</paragraph></blockquote>`, '> '],
  [(line) => `<bulletList><listItem><paragraph>${line}</paragraph></listItem></bulletList>`, '- '],
  [
    (line) => `<orderedList start="1"><listItem><paragraph>${line}</paragraph></listItem></orderedList>`,
    '1. ',
  ],
]

/** Twelve words in lines of random kinds. */
const lines = fc
  .array(fc.record({ size: fc.integer({ min: 1, max: 6 }), kind: fc.nat(lineKinds.length - 1) }), {
    minLength: 12,
    maxLength: 12,
  })
  .map((parts) => {
    let at = 0
    return parts.flatMap(({ size, kind }) => {
      const words = Array.from({ length: Math.min(size, 12 - at) }, (_, index) => at + index)
      at += words.length
      return words.length === 0 ? [] : [{ words, kind: lineKinds[kind] as (typeof lineKinds)[number] }]
    })
  })

it('[FMT-5] keeps the formatting of each word when blocks become other blocks, are divided or joined', () => {
  const formatted = fc.array(fc.boolean(), { minLength: 12, maxLength: 12 })
  fc.assert(
    fc.property(lines, lines, formatted, (before, after, isRed) => {
      const word = (index: number): string => `word${String.fromCharCode(97 + index)}`
      const red = (index: number): string =>
        isRed[index] ? `<textStyle color="red">${word(index)}</textStyle>` : word(index)
      const doc = docOf(
        before.map(({ words, kind: [xml] }) => xml(words.map(red).join(' '))).join(''),
        'default',
      )
      const text = after.map(({ words, kind: [, prefix] }) => prefix + words.map(word).join(' '))
      replaceMarkdown(doc, 'default', checkMarkdown(text.join('\n\n')))
      const found = [...serializeXml(doc, 'default').matchAll(/<textStyle color="red">(.*?)<\/textStyle>/g)]
      const words = found.flatMap(([, inner = '']) => inner.split(' ').filter((each) => each !== ''))
      expect(words).toEqual(isRed.flatMap((each, index) => (each ? [word(index)] : [])))
    }),
    { numRuns: times(30, 400) },
  )
})
