import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { serializeXml } from '../../../src/core/content/xml/serialize.ts'
import { runs, updatesOf } from './support.ts'
import { basicSchema, correctionsOf, documents, shown, stored, tiptapSchema } from './xml-editors.ts'
import { replace, richKey } from './xml-support.ts'

const fewer = { numRuns: Math.ceil(runs.numRuns / 4) }

const schemas = [
  ['basic', basicSchema],
  ['Tiptap', tiptapSchema],
] as const

test.each(schemas)('[R22] changes nothing when %s documents are read and written back', (_name, schema) => {
  fc.assert(
    fc.property(documents(schema), (node) => {
      const doc = stored(node)
      const xml = serializeXml(doc, richKey)
      const updates = updatesOf(doc, () => expect(replace(doc, xml, richKey).changed).toBe(false))
      expect(updates).toEqual([])
    }),
    fewer,
  )
})

test.each(schemas)('[R22] shows the written content in the editor: %s documents', (_name, schema) => {
  fc.assert(
    fc.property(documents(schema), documents(schema), (before, after) => {
      const target = stored(after)
      // The document determines the types of attributes, so it must have the attributes of both.
      const doc = stored(schema.node('doc', null, before.content.append(after.content)))
      replace(doc, serializeXml(target, richKey), richKey)
      expect(serializeXml(doc, richKey)).toBe(serializeXml(target, richKey))
      expect(visible(shown(doc, schema).toJSON())).toEqual(visible(shown(target, schema).toJSON()))
    }),
    fewer,
  )
})

/** Characters that XML does not allow may stay or become U+FFFD. */
const visible = (json: unknown): unknown => JSON.parse(JSON.stringify(json).replaceAll('\\u000b', '\ufffd'))

/** The binding always writes texts with two marks of one name, and objects, when a neighbor differs. */
test.each(schemas)(
  '[R22] writes content in which the editor binding corrects nothing: %s documents',
  (_name, schema) => {
    fc.assert(
      fc.property(documents(schema), documents(schema), (before, after) => {
        const doc = stored(schema.node('doc', null, before.content.append(after.content)))
        replace(doc, serializeXml(stored(after), richKey), richKey)
        const ofItsOwn = correctionsOf(stored(after), after)
        if (ofItsOwn.length === 0) expect(correctionsOf(doc, shown(doc, schema))).toEqual([])
      }),
      fewer,
    )
  },
)
