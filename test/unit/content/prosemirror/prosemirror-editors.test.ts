import * as fc from 'fast-check'
import type { Node } from 'prosemirror-model'
import { expect, test } from 'vitest'
import { replaceContent } from '../../../../src/core/content/replace.ts'
import { runs, updatesOf } from '../support.ts'
import {
  basicSchema,
  correctionsOf,
  documents,
  hasEmptiedText,
  shown,
  stored,
  tiptapSchema,
} from '../xml-editors.ts'
import { richKey } from '../xml-support.ts'
import { readJson } from './prosemirror-support.ts'

const fewer = { numRuns: Math.ceil(runs.numRuns / 4) }

const schemas = [
  ['basic', basicSchema],
  ['Tiptap', tiptapSchema],
] as const

test.each(schemas)(
  '[FMT-43] changes nothing when %s documents are read and written back',
  (_name, schema) => {
    fc.assert(
      fc.property(documents(schema), (node) => {
        const doc = stored(node)
        const data = readJson(doc, richKey)
        const updates = updatesOf(doc, () =>
          expect(replaceContent(doc, { type: 'prosemirror', contentKey: richKey, data }).changed).toBe(false),
        )
        expect(updates).toEqual([])
      }),
      fewer,
    )
  },
)

test.each(schemas)('[FMT-40] reads a document that the editor can load: %s documents', (_name, schema) => {
  fc.assert(
    fc.property(documents(schema), (node) => {
      const loaded = schema.nodeFromJSON(readJson(stored(node), richKey))
      expect(sortedMarks(loaded)).toEqual(sortedMarks(shown(stored(node), schema)))
    }),
    fewer,
  )
})

/** The JSON of a node. Marks of one type that are on the same text are sorted: their order has no meaning. */
const sortedMarks = (node: Node): unknown =>
  JSON.parse(JSON.stringify(node), (key, value: unknown) =>
    key === 'marks' ? (value as object[]).map((mark) => JSON.stringify(mark)).sort() : value,
  )

/** The content of a node as the binding of the editor stores it. */
const asStored = (node: Node): Node => shown(stored(node), node.type.schema)

test.each(schemas)(
  '[FMT-45] shows the written content in the editor, which corrects nothing: %s documents',
  (_name, schema) => {
    fc.assert(
      fc.property(documents(schema), documents(schema), (before, after) => {
        const doc = stored(before)
        replaceContent(doc, { type: 'prosemirror', contentKey: richKey, data: after.toJSON() })
        expect(sortedMarks(shown(doc, schema))).toEqual(sortedMarks(asStored(after)))
        // The binding always writes texts with two marks of one name, and objects, when a neighbor differs.
        // A text that was emptied stays in its element, as in the binding, which removes it in that case.
        if (correctionsOf(stored(after), after).length === 0 && !hasEmptiedText(doc.get(richKey)))
          expect(correctionsOf(doc, shown(doc, schema))).toEqual([])
      }),
      fewer,
    )
  },
)
