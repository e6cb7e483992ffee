import * as fc from 'fast-check'
import { $createLineBreakNode, $createParagraphNode, $createTextNode, $getRoot } from 'lexical'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { lookUpAnchors, type StoredAnchor } from '../../../../src/core/content/edit/anchors.ts'
import type { QuoteTarget } from '../../../../src/core/content/edit/edit.ts'
import { locatePositions } from '../../../../src/core/content/edit/targets/anchor-positions.ts'
import type { FlowView } from '../../../../src/core/content/edit/targets/flow-view.ts'
import { readLineView } from '../../../../src/core/content/edit/targets/line-view.ts'
import { readNestedView } from '../../../../src/core/content/edit/targets/nested-view.ts'
import { readXmlView } from '../../../../src/core/content/edit/targets/xml-view.ts'
import type { SharedRoot } from '../../../../src/core/content/yjs/root-kind.ts'
import { seed } from '../../../support/data/seed.ts'
import { times } from '../../../support/time/full-run.ts'
import { docOf, richKey } from '../xml-support.ts'
import { lexicalDoc, lexicalKey, slateDoc, slateKey } from '../xmltext-editors.ts'
import { quote } from './edit-support.ts'

const settings = { numRuns: times(200, 5_000), seed }

/** Returns the anchor of a quote, which the document must contain. */
function anchorAt(doc: Y.Doc, text: string, more: Partial<QuoteTarget> = {}): StoredAnchor {
  const target = quote(text, more) as QuoteTarget
  const { found } = lookUpAnchors(doc, { find: [{ contentKey: undefined, quote: target }], show: [] })
  const [answer] = found
  if (answer === undefined || 'problem' in answer || answer.range === null)
    throw new Error(JSON.stringify(answer))
  return { contentKey: answer.contentKey, ...answer.range }
}

const shownAt = (doc: Y.Doc, anchor: StoredAnchor) =>
  lookUpAnchors(doc, { find: [], show: [anchor] }).shown[0] ?? null

const letters = fc.constantFrom('a', 'b', 'c', 'd')

interface Step {
  readonly do: 'insert' | 'delete' | 'format' | 'embed'
  readonly at: number
  readonly length: number
  readonly text: string
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    do: fc.constantFrom('insert', 'delete', 'format', 'embed'),
    at: fc.nat(40),
    length: fc.integer({ min: 1, max: 6 }),
    text: letters,
  }),
  { maxLength: 12 },
)

function applyStep(text: Y.Text, step: Step): void {
  const at = Math.min(step.at, text.length)
  const length = Math.min(step.length, text.length - at)
  if (step.do === 'insert') text.insert(at, step.text)
  else if (step.do === 'embed') text.insertEmbed(at, { image: step.text })
  else if (step.do === 'delete') text.delete(at, length)
  else text.format(at, length, { bold: true })
}

interface Character {
  readonly text: string
  isDeleted: boolean
}

test(`[COMM-29] shows the text between the first and the last character of a quote, while users type and delete (seed ${seed})`, () => {
  fc.assert(
    fc.property(
      fc.array(letters, { minLength: 3, maxLength: 20 }),
      fc.nat(20),
      fc.nat(20),
      steps,
      (given, first, length, later) => {
        const doc = new Y.Doc()
        const text = doc.getText('content')
        // Each letter has its own item, as if a user had typed it.
        for (const [index, letter] of given.entries()) text.insert(index, letter)
        const model: Character[] = given.map((letter) => ({ text: letter, isDeleted: false }))
        const start = first % given.length
        const end = start + 1 + (length % (given.length - start))
        const whole = given.join('')
        const wanted = whole.slice(start, end)
        const before = whole.slice(0, start)
        const after = whole.slice(end)
        const anchor = anchorAt(doc, wanted, { before, after })
        const [from, to] = [model[start] as Character, model[end - 1] as Character]
        for (const step of later) {
          if (step.do === 'embed' || step.do === 'format') continue
          applyStep(text, step)
          const visible = model.filter(({ isDeleted }) => !isDeleted)
          const at = Math.min(step.at, visible.length)
          const next = visible[at]
          if (step.do === 'delete')
            for (const character of visible.slice(at, at + step.length)) character.isDeleted = true
          else
            model.splice(next === undefined ? model.length : model.indexOf(next), 0, {
              text: step.text,
              isDeleted: false,
            })
        }
        const range = model.slice(model.indexOf(from), model.indexOf(to) + 1)
        const expected = range.flatMap((each) => (each.isDeleted ? [] : [each.text])).join('')
        expect(shownAt(doc, anchor)?.quote ?? '').toBe(expected)
      },
    ),
    settings,
  )
})

/** The position of Yjs in the view. */
function byYjs(view: FlowView, doc: Y.Doc, encoded: Uint8Array) {
  const position = Y.decodeRelativePosition(encoded)
  const found = Y.createAbsolutePositionFromRelativePosition(position, doc, false)
  return found === null ? null : view.locate(found.type, found.index)
}

/** All shared types of a root that contain text or elements. */
function typesIn(type: SharedRoot): SharedRoot[] {
  const types = [type]
  for (let item = type._start; item !== null; item = item.right)
    if (item.content instanceof Y.ContentType) types.push(...typesIn(item.content.type))
  return types
}

const rootsOf: readonly {
  readonly name: string
  readonly contentKey: string
  readonly doc: () => Y.Doc
  readonly viewOf: (root: SharedRoot) => FlowView
}[] = [
  {
    name: 'a text',
    contentKey: 'content',
    doc: () => {
      const doc = new Y.Doc()
      doc.getText('content').insert(0, 'one two\nthree four five')
      return doc
    },
    viewOf: readLineView,
  },
  {
    name: 'XML',
    contentKey: richKey,
    doc: () =>
      docOf(
        '<heading level="1">one</heading><paragraph>two <bold>three</bold><hardBreak/>four</paragraph><paragraph>five</paragraph>',
        richKey,
      ),
    viewOf: readXmlView,
  },
  {
    name: 'nested texts',
    contentKey: slateKey,
    doc: () =>
      slateDoc([
        { type: 'paragraph', children: [{ text: 'one ' }, { text: 'two', bold: true }] },
        { type: 'paragraph', children: [{ text: 'three four' }] },
      ] as never),
    viewOf: readNestedView,
  },
]

test.each(rootsOf)(
  `[COMM-29] locates relative positions in $name like Yjs (seed ${seed})`,
  ({ contentKey, doc: docFor, viewOf }) => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(20), fc.nat(40), fc.boolean()), { minLength: 1, maxLength: 8 }),
        fc.array(fc.tuple(fc.nat(20), steps), { maxLength: 4 }),
        (places, changes) => {
          const doc = docFor()
          const root = doc.share.get(contentKey) as SharedRoot
          const positions = places.map(([which, at, isEnd]) => {
            const types = typesIn(root)
            const type = types[which % types.length] as SharedRoot
            const index = at % (type._length + 1)
            return Y.encodeRelativePosition(
              Y.createRelativePositionFromTypeIndex(type, index, isEnd ? -1 : 0),
            )
          })
          for (const [which, list] of changes) {
            const texts = typesIn(root).filter((type) => type instanceof Y.Text)
            const text = texts[which % texts.length]
            if (text !== undefined) for (const step of list) applyStep(text, step)
          }
          const view = viewOf(root)
          expect(locatePositions({ view, doc, contentKey }, positions)).toEqual(
            positions.map((encoded) => byYjs(view, doc, encoded)),
          )
        },
      ),
      settings,
    )
  },
)

const lexical = (): Y.Doc =>
  lexicalDoc(() =>
    $getRoot().append(
      $createParagraphNode().append(
        $createTextNode('one '),
        $createTextNode('two').toggleFormat('bold'),
        $createLineBreakNode(),
        $createTextNode('three four'),
      ),
    ),
  )

test.each([
  {
    name: 'XML',
    doc: docOf('<paragraph>one <bold>two</bold><hardBreak/>three four</paragraph>', richKey),
    contentKey: richKey,
  },
  { name: 'Lexical', doc: lexical(), contentKey: lexicalKey },
])('[COMM-27] anchors a quote across formatting and a line break of $name', ({ doc, contentKey }) => {
  const anchor = anchorAt(doc, 'two three')
  expect(anchor.contentKey).toBe(contentKey)
  expect(shownAt(doc, anchor)).toEqual({ quote: 'two\nthree', before: 'one ', after: ' four' })
})

test('[COMM-29] shows an anchor that ends in a later block, and nothing if its text was deleted', () => {
  const doc = docOf(
    `<paragraph>one two</paragraph><paragraph>three</paragraph><paragraph>${'four '.repeat(30)}</paragraph>`,
    richKey,
  )
  const anchorOf = (first: string, last: string): StoredAnchor => {
    const { contentKey, position } = anchorAt(doc, first)
    const { positionEnd } = anchorAt(doc, last, { occurrence: 1 })
    return { contentKey, position, ...(positionEnd !== undefined && { positionEnd }) }
  }
  const [across, long] = [anchorOf('two', 'three'), anchorOf('two', 'four '.repeat(30).trim())]
  expect(shownAt(doc, across)).toEqual({ quote: 'two\nthree', before: 'one ' })
  expect(shownAt(doc, long)).toEqual({
    quote: `two\nthree\n${'four '.repeat(14)}`,
    before: 'one ',
    shortened: true,
  })
  expect(shownAt(doc, { ...across, position: long.positionEnd ?? '' })).toBeNull()
  for (const paragraph of doc.getXmlFragment(richKey).toArray().slice(0, 2)) {
    const text = (paragraph as Y.XmlElement).get(0) as Y.XmlText
    text.delete(0, text.length)
  }
  expect(shownAt(doc, across)).toBeNull()
})

test('[COMM-28] names similar places for the first missing quotes of a large document only', () => {
  const doc = new Y.Doc()
  doc.getText('content').insert(0, 'one two\n'.repeat(400_000))
  const missing = quote('one three') as QuoteTarget
  const find = Array.from({ length: 5 }, () => ({ contentKey: undefined, quote: missing }))
  const { found } = lookUpAnchors(doc, { find, show: [] })
  const candidates = found.map((each) => ('problem' in each ? each.problem.details?.candidates : null))
  expect(candidates.map((places) => (places as readonly unknown[]).length)).toEqual([5, 5, 5, 0, 0])
})
