import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { readRoot, readRootAs } from '../../../src/core/content/read-document.ts'
import { restoreContent } from '../../../src/core/content/restore.ts'
import { rootKind } from '../../../src/core/content/yjs/root-kind.ts'
import { editRandomly, Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { times } from '../../support/time/full-run.ts'

const rounds = times(100, 350)

const copyOf = (doc: Y.Doc): Y.Doc => {
  const copy = new Y.Doc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc))
  return copy
}

/** Each root with content, in every format that can show it. */
function contentOf(doc: Y.Doc): unknown {
  const formats: Record<string, readonly string[]> = { text: ['delta'], xmltext: ['xmltext'] }
  const keys = [...doc.share.keys()].filter((key) => rootKind(doc, key) !== 'none').sort()
  return keys.flatMap((key) => {
    const content = readRoot(doc, key)
    // `undefined` reads as absent.
    if (content.type === 'map' && Object.keys(content.data as object).length === 0) return []
    return [[content, (formats[content.type] ?? []).map((type) => readRootAs(doc, type, key).data)]]
  })
}

function restore(doc: Y.Doc, past: Y.Doc): Uint8Array[] {
  const updates: Uint8Array[] = []
  const listener = (update: Uint8Array): void => void updates.push(update)
  doc.on('update', listener)
  const { changed } = restoreContent(doc, past)
  doc.off('update', listener)
  expect(changed).toBe(updates.length > 0)
  return updates
}

it(`[VER-6] after any edits, restores the former content in every format and in all replicas by one update (seed ${seed})`, () => {
  for (let round = 0; round < rounds; round++) {
    const random = new Random(seed + round)
    const doc = new Y.Doc()
    const pasts: Y.Doc[] = [copyOf(doc)]
    for (let step = random.below(60); step >= 0; step--) {
      editRandomly(doc, random)
      if (random.below(6) === 0) pasts.push(copyOf(doc))
    }
    const present = copyOf(doc)
    const other = copyOf(doc)
    const past = random.pick(pasts)
    const updates = restore(present, past)
    expect(contentOf(present), `seed ${seed + round}`).toEqual(contentOf(past))
    expect(updates.length).toBeLessThanOrEqual(1)
    expect(restore(present, past), `seed ${seed + round}`).toEqual([])
    for (const update of updates) Y.applyUpdate(other, update)
    expect(contentOf(other)).toEqual(contentOf(past))
  }
})

it('[VER-7] restores shared values as shared values, texts with their formatting, and bytes as bytes', () => {
  const doc = new Y.Doc()
  const [list, cards] = [doc.getArray('list'), doc.getMap('cards')]
  const text = new Y.Text('plain and bold')
  text.format(10, 4, { bold: true })
  list.push([new Y.Map<unknown>([['title', 'first']]), { plain: true }])
  cards.set('text', text)
  cards.set('bytes', new Uint8Array([1, 2]))
  cards.set('kept', new Y.Text('kept'))
  const past = copyOf(doc)
  list.delete(0, 2)
  ;(cards.get('kept') as Y.Text).format(0, 4, { italic: true })
  for (const key of ['text', 'bytes']) cards.delete(key)
  restore(doc, past)
  const [item, plain] = doc.getArray('list').toArray()
  expect((item as Y.Map<unknown>).get('title')).toBe('first')
  expect(plain).toEqual({ plain: true })
  expect((cards.get('text') as Y.Text).toDelta()).toEqual([
    { insert: 'plain and ' },
    { insert: 'bold', attributes: { bold: true } },
  ])
  expect(cards.get('bytes')).toEqual(new Uint8Array([1, 2]))
  expect((cards.get('kept') as Y.Text).toDelta()).toEqual([{ insert: 'kept' }])
})

it('[VER-7] a restore empties a root that was added later, and gives a root whose type has changed its former type', () => {
  const doc = new Y.Doc()
  doc.getText('content').insert(0, 'text')
  const past = copyOf(doc)
  const later = new Y.Doc()
  Y.applyUpdate(later, Y.encodeStateAsUpdate(doc))
  later.getText('content').delete(0, 4)
  const present = copyOf(later)
  present.getArray('content').push([1, 2])
  present.getMap('later').set('a', 1)
  const live = copyOf(present)
  restore(live, past)
  expect(contentOf(live)).toEqual(contentOf(past))
})

it('[VER-8] keeps the identity of unchanged content, and the cursors in it', () => {
  const doc = new Y.Doc()
  const paragraph = new Y.XmlElement('paragraph')
  paragraph.insert(0, [new Y.XmlText('a sentence that stays')])
  doc.getXmlFragment('default').insert(0, [paragraph])
  doc.getText('content').insert(0, 'one two three')
  const past = copyOf(doc)
  const text = doc.getText('content')
  text.insert(4, 'and ')
  const cursor = Y.createRelativePositionFromTypeIndex(text, text.toString().indexOf('three'))
  const words = paragraph.get(0) as Y.XmlText
  const inParagraph = Y.createRelativePositionFromTypeIndex(words, 2)
  words.format(2, 8, { bold: {} })
  doc.getXmlFragment('default').insert(0, [new Y.XmlElement('heading')])
  restore(doc, past)
  expect(Y.createAbsolutePositionFromRelativePosition(cursor, doc)?.index).toBe('one two '.length)
  expect(Y.createAbsolutePositionFromRelativePosition(inParagraph, doc)?.index).toBe(2)
  expect(doc.getXmlFragment('default').get(0)).toBe(paragraph)
  expect(words.toDelta()).toEqual([{ insert: 'a sentence that stays' }])
})
