import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { ApiError } from '../../../../src/core/base/errors.ts'
import type { Edit, EditOutcome, EditTarget } from '../../../../src/core/content/edit/edit.ts'
import { applyTextEdit, type TextKind } from '../../../../src/core/content/edit/text-edit.ts'
import { WorkLimit, WorkLimitError } from '../../../../src/core/content/edit/work-limit.ts'
import { seed } from '../../../support/data/seed.ts'
import { times } from '../../../support/time/full-run.ts'
import { docOf, richKey } from '../xml-support.ts'
import {
  attribute,
  attributes,
  block,
  editedRoot,
  heading,
  insert,
  mark,
  quote,
  remove,
  replace,
  textAt,
  xml,
} from './edit-support.ts'

const settings = { numRuns: times(100, 1_000), seed }

function textDoc(): Y.Doc {
  const doc = new Y.Doc()
  doc
    .getText(richKey)
    .applyDelta([
      { insert: 'A heading' },
      { insert: '\n', attributes: { header: 1 } },
      { insert: 'one two ' },
      { insert: 'three', attributes: { bold: true } },
      { insert: '\nfour e\u0301 four\n' },
    ])
  return doc
}

const xmlDoc = (): Y.Doc =>
  docOf(
    '<heading level="1" id="h">A heading</heading><paragraph>one two <bold>three</bold></paragraph>' +
      '<bulletList><listItem><paragraph>four e\u0301<hardBreak/>four</paragraph></listItem></bulletList>',
    richKey,
  )

function nestedDoc(): Y.Doc {
  const doc = new Y.Doc()
  const root = doc.get(richKey, Y.XmlText)
  for (const [type, text] of [
    ['h1', 'A heading'],
    ['paragraph', 'one two three'],
    ['paragraph', 'four e\u0301 four'],
  ] as const) {
    const node = new Y.XmlText(text)
    root.insertEmbed(root.length, node)
    node.setAttribute('type', type)
    node.setAttribute('id', type)
  }
  return doc
}

const docs: Readonly<Record<TextKind, () => Y.Doc>> = { text: textDoc, xml: xmlDoc, xmltext: nestedDoc }

const targets: fc.Arbitrary<EditTarget> = fc.constantFrom(
  quote('two three'),
  quote('four'),
  quote('\u00e9'),
  quote('four', { occurrence: 2 }),
  quote('heading one', { acrossBlocks: true }),
  quote('nothing like this'),
  heading('A heading'),
  heading('Another'),
  attribute('id', 'h'),
  block(1),
  block(9),
)

const edits: fc.Arbitrary<Edit> = fc.oneof(
  fc.tuple(targets, fc.constantFrom('two', 'four five', '')).map(([target, text]) => replace(target, text)),
  targets.map((target) => replace(target, 'one\ntwo')),
  fc
    .tuple(targets, fc.constantFrom('before', 'after', 'into'))
    .map(([target, at]) => insert({ at, target }, 'new')),
  targets.map((target) => insert({ at: 'after', target }, xml('<paragraph>new</paragraph>'))),
  targets.map(remove),
  targets.map((target) => mark(target, 'bold', true)),
  targets.map((target) => attributes(target, { level: 2 })),
  fc.constant(textAt(3, 4, 'x')),
)

type Result = EditOutcome | { readonly rejected: string }

/** Applies an edit within a number of steps. Returns null if the edit needs more. */
function resultOf(doc: Y.Doc, kind: TextKind, edit: Edit, steps?: number): Result | null {
  const root = doc.share.get(richKey)
  if (root === undefined) throw new Error('there is no such root')
  try {
    return doc.transact((transaction) => {
      const edited = editedRoot(transaction, root, kind, richKey, 'edits[0]')
      return applyTextEdit({ ...edited, work: new WorkLimit(steps) }, edit)
    })
  } catch (error) {
    if (error instanceof WorkLimitError) return null
    if (error instanceof ApiError) return { rejected: error.message }
    throw error
  }
}

test(`[EDIT-9] changes nothing when an edit needs more work than its limit, and has the same result within it (seed ${seed})`, () => {
  fc.assert(
    fc.property(fc.constantFrom<TextKind>('text', 'xml', 'xmltext'), edits, (kind, edit) => {
      const expected = docs[kind]()
      const result = resultOf(expected, kind, edit)
      for (let steps = 1; ; steps *= 1.3) {
        const doc = docs[kind]()
        const before = Y.encodeStateAsUpdate(doc)
        const found = resultOf(doc, kind, edit, steps)
        if (found !== null) {
          expect(found).toEqual(result)
          expect(doc.share.get(richKey)?.toJSON()).toEqual(expected.share.get(richKey)?.toJSON())
          return
        }
        expect(Buffer.compare(before, Y.encodeStateAsUpdate(doc))).toBe(0)
      }
    }),
    settings,
  )
})
