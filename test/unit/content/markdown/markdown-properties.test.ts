import * as fc from 'fast-check'
import type { Schema } from 'prosemirror-model'
import { describe, expect, it } from 'vitest'
import { serializeXml } from '../../../../src/core/content/xml/serialize.ts'
import { times } from '../../../support/time/full-run.ts'
import { loaded, updatesOf } from '../support.ts'
import { basicSchema, documents, shown, stored, tiptapSchema } from '../xml-editors.ts'
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
