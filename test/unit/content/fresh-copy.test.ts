import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { FreshCopy } from '../../../src/core/content/fresh-copy.ts'
import { kindsIn, replaceKeepingKind } from '../../../src/core/content/keep-kinds.ts'
import { checkContent } from '../../../src/core/content/replace.ts'
import { createDoc } from '../../../src/core/content/yjs/create-doc.ts'
import type { ChangeOrigin } from '../../../src/core/model/change-origin.ts'
import type { Attribution } from '../../../src/core/update/attribution/attribution.ts'
import { AttributionBuilder } from '../../../src/core/update/attribution/attribution-builder.ts'
import { Random, randomHistory } from '../../support/data/random-doc.ts'
import { StockEditor, stockStep } from '../../support/data/stock-edits.ts'
import { storedContent } from '../../support/stores/stored-content.ts'
import { times } from '../../support/time/full-run.ts'

const originAt = ({ inserted }: Attribution, client: number, at: number): ChangeOrigin | undefined =>
  inserted.get(client)?.find(({ clock, length }) => clock <= at && at < clock + length)?.origin

/** Returns a document as the server has it: with untyped roots. */
function loaded(...states: readonly Uint8Array[]): Y.Doc {
  const doc = new Y.Doc()
  for (const state of states) Y.applyUpdate(doc, state)
  return doc
}

const stateOf = (doc: Y.Doc): Uint8Array => Y.encodeStateAsUpdate(doc)

const itemsIn = ({ store }: Y.Doc): number[] => [...store.clients.values()].map((structs) => structs.length)

const histories = fc.array(stockStep, { minLength: 1, maxLength: 40 })

it('[COPY-1] [COPY-2] after any edits, has exactly the stored content under one client id of its own', () => {
  fc.assert(
    fc.property(histories, (steps) => {
      const editors = [1, 2].map((clientID) => {
        const editor = new StockEditor(new Y.Doc())
        editor.doc.clientID = clientID
        return editor
      })
      for (const [index, step] of steps.entries()) {
        editors[step.who % 2]?.do(step)
        if (index % 7 === 6)
          for (const { doc } of editors) for (const other of editors) Y.applyUpdate(doc, stateOf(other.doc))
      }
      for (const editor of editors) editor.close()
      const source = loaded(...editors.map(({ doc }) => stateOf(doc)))
      const before = stateOf(source)
      const copy = new FreshCopy(source)
      const stored = loaded(stateOf(copy.doc))
      expect(storedContent(stored)).toEqual(storedContent(source))
      expect(kindsIn(stored)).toEqual(kindsIn(source))
      expect(stateOf(source)).toEqual(before)
      expect([...stored.store.clients.keys()].filter((client) => source.store.clients.has(client))).toEqual(
        [],
      )
      expect(stored.store.clients.size).toBeLessThan(2)
      expect(itemsIn(new FreshCopy(stored).doc)).toEqual(itemsIn(stored))
      const ids = copy.ids.reduce((sum, { clock, source: { length } }) => {
        expect(clock).toBe(sum)
        return sum + length
      }, 0)
      expect(Y.getState(stored.store, copy.doc.clientID)).toBeGreaterThanOrEqual(ids)
    }),
    { numRuns: times(40, 1_000) },
  )
})

it('[COPY-2] copies the text of many authors as one item, and original and copy in one document have both contents', () => {
  const source = new Y.Doc()
  for (let author = 1; author <= 200; author++) {
    source.clientID = author
    source.getText('content').insert(source.getText('content').length, 'abc')
    source.getText('content').insert(1, 'x')
    source.getText('content').delete(0, 1)
  }
  const copy = new FreshCopy(source).doc
  const text = source.getText('content').toJSON()
  expect(copy.getText('content').toJSON()).toBe(text)
  expect(stateOf(copy).length).toBeLessThan(text.length + 40)
  expect(loaded(stateOf(source), stateOf(copy)).getText('content').length).toBe(2 * text.length)
})

it('[COPY-1] keeps the kind of emptied roots, and leaves out marks without effect', () => {
  const source = createDoc()
  const emptied = { array: [['a'], []], map: [{ a: 1 }, {}], xml: ['<p>a</p>', ''] } as const
  for (const [type, contents] of Object.entries(emptied))
    for (const data of contents)
      replaceKeepingKind(source, checkContent({ type, contentKey: type, data, newRoot: true }))
  const text = source.getText('text')
  text.insert(0, 'plain bold')
  text.format(6, 4, { bold: true })
  text.insert(10, ' italic', { italic: true })
  const form = text.toDelta()
  for (let round = 0; round < 50; round++) {
    text.insert(3, 'gone', { color: `c${round}` })
    text.delete(3, 4)
  }
  const copy = new FreshCopy(source).doc
  expect(Object.fromEntries(kindsIn(copy))).toEqual({ array: 'array', map: 'map', xml: 'xml', text: 'text' })
  expect(copy.getText('text').toDelta()).toEqual(form)
  expect(stateOf(copy).length).toBeLessThan(300)
})

it('[COPY-3] gives each id the origin of the id that it copies', () => {
  for (let seed = 1; seed <= times(20, 200); seed++) {
    const random = new Random(seed)
    const builder = new AttributionBuilder()
    const source = loaded()
    for (const [at, bytes] of randomHistory(seed, 40).updates.entries()) {
      Y.applyUpdate(source, bytes)
      if (random.below(8) > 0) builder.add({ bytes, at: at * 10_000, by: random.pick(['ann', 'bob', 'cy']) })
    }
    const attribution = builder.build()
    const copy = new FreshCopy(source)
    const carried = copy.attribution(attribution)
    const present = copy.doc.clientID
    for (const { clock, source: from } of copy.ids)
      for (let at = 0; at < from.length; at++)
        expect(originAt(carried, present, clock + at)).toEqual(
          originAt(attribution, from.client, from.clock + at),
        )
  }
})

it('[COPY-6] moves positions to the same places of the copy, and leaves those whose place is gone', () => {
  const source = loaded()
  const root = source.getXmlFragment('default')
  const paragraphs = ['one two', 'gone', 'three'].map((text) => {
    const element = new Y.XmlElement('p')
    element.insert(0, [new Y.XmlText(text)])
    return element
  })
  root.insert(0, paragraphs)
  const texts = paragraphs.map((element) => element.get(0) as Y.XmlText)
  const [first, gone, last] = texts as [Y.XmlText, Y.XmlText, Y.XmlText]
  const at = (type: Y.XmlText | Y.XmlFragment, index: number, assoc = 0): string =>
    Buffer.from(Y.encodeRelativePosition(Y.createRelativePositionFromTypeIndex(type, index, assoc))).toString(
      'base64',
    )
  const positions = [at(first, 4), at(first, 7, -1), at(last, 5), at(root, 2), at(root, 3), at(gone, 1)]
  root.delete(1, 1)
  first.delete(0, 4)
  const copy = new FreshCopy(source)
  const placeIn = (doc: Y.Doc, text: string): unknown => {
    const position = Y.decodeRelativePosition(Buffer.from(text, 'base64'))
    const place = Y.createAbsolutePositionFromRelativePosition(position, doc)
    return place && [place.type.toJSON(), place.index, place.assoc]
  }
  const anchors = positions.map((position) => ({ contentKey: 'default', position, positionEnd: position }))
  const moved = copy.anchors(anchors).map(({ position }) => position)
  const places = [
    ['two', 0, 0],
    ['two', 3, -1],
    ['three', 5, 0],
  ]
  expect(moved.slice(0, 3).map((text) => placeIn(copy.doc, text))).toEqual(places)
  copy.doc.getXmlFragment('default')
  expect(moved.slice(3, 5).map((text) => placeIn(copy.doc, text))).toMatchObject([
    [expect.any(String), 1, 0],
    [expect.any(String), 2, 0],
  ])
  expect(moved[5]).toBe(positions[5])
  expect(placeIn(copy.doc, moved[5] as string)).toBe(null)
})

it('[COPY-1] refuses a document that waits for missing updates', () => {
  const source = new Y.Doc()
  source.getText('a').insert(0, 'first')
  const before = Y.encodeStateVector(source)
  source.getText('a').insert(5, ' second')
  expect(() => new FreshCopy(loaded(Y.encodeStateAsUpdate(source, before)))).toThrow('misses updates')
})
