import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { RecentEdits } from '../../../src/console/documents/live/live-document.ts'
import { runsOf } from '../../../src/console/documents/live/text-runs.ts'
import {
  isLine,
  jsonCells,
  mapCells,
  sequenceCells,
  valueFormOf,
} from '../../../src/console/documents/live/value-tree.ts'
import type { SharedRoot } from '../../../src/core/content/yjs/root-kind.ts'

/** The document of a page: its roots have no type. */
function received(edit: (doc: Y.Doc) => void): {
  made: Y.Doc
  doc: Y.Doc
  root: (name?: string) => SharedRoot
} {
  const [made, doc] = [new Y.Doc(), new Y.Doc()]
  made.clientID = 1
  edit(made)
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(made))
  return { made, doc, root: (name = 'content') => doc.share.get(name) as SharedRoot }
}

const all = { limit: 1_000 }

it('[CON-21] reads a text with its formats and embeds from a root of any type', () => {
  const { doc, root } = received((made) => {
    const text = made.getText('content')
    text.insert(0, 'Hello world')
    text.format(0, 5, { bold: true })
    text.insertEmbed(5, { image: 'x' })
    text.delete(8, 2)
  })
  const { runs, rest } = runsOf(root(), all)
  expect(runs).toEqual([
    { kind: 'text', text: 'Hello', attributes: { bold: true }, isFresh: false },
    expect.objectContaining({ kind: 'embed', value: { image: 'x' } }),
    { kind: 'text', text: ' wld', attributes: {}, isFresh: false },
  ])
  expect(rest).toBe(0)
  expect(doc.share.get('content')?.constructor).toBe(Y.AbstractType)
})

it('[CON-21] reads the beginning of a long text, and returns the number of remaining characters', () => {
  const { root } = received((made) => made.getText('content').insert(0, 'x'.repeat(50_000)))
  const { runs, rest } = runsOf(root(), { limit: 20_000 })
  expect(runs.map((run) => run.kind === 'text' && run.text.length)).toEqual([20_000])
  expect(rest).toBe(30_000)
})

it('[CON-22] shows a caret between two characters, and at both ends of the text', () => {
  const { root } = received((made) => made.getText('content').insert(0, 'abcd'))
  const carets = [4, 0, 2, 2].map((index, clientId) => ({ index, clientId, name: '', color: null }))
  const { runs } = runsOf(root(), { ...all, carets })
  expect(
    runs.map((run) => (run.kind === 'text' ? run.text : run.kind === 'caret' ? run.caret.index : '')),
  ).toEqual([0, 'ab', 2, 2, 'cd', 4])
})

it('[CON-21] distinguishes recently added text from earlier text', () => {
  const { made, doc, root } = received((first) => first.getText('content').insert(0, 'old'))
  const fresh = new RecentEdits(doc, () => {})
  const texts = () =>
    runsOf(root(), { ...all, freshFrom: fresh.from }).runs.map(
      (run) => run.kind === 'text' && [run.text, run.isFresh],
    )
  expect(texts()).toEqual([['old', false]])
  fresh.begin()
  made.getText('content').insert(3, ' new')
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(made))
  expect(texts()).toEqual([
    ['old', false],
    [' new', true],
  ])
  fresh.step()
  fresh.step()
  expect(texts()).toEqual([['old new', false]])
  fresh.end()
})

it('[CON-21] reads maps, arrays and elements in order, up to a given limit', () => {
  const { root } = received((made) => {
    const map = made.getMap('content')
    map.set('b', 1)
    map.set('a', new Y.Array())
    map.set('gone', 1)
    map.delete('gone')
    const list = made.getArray('list')
    list.insert(0, [1, 'two', null, { three: 3 }])
    list.delete(1)
  })
  expect(mapCells(root(), 10).cells.map(({ name, value }) => [name, valueFormOf(value).kind])).toEqual([
    ['a', 'array'],
    ['b', 'plain'],
  ])
  expect(mapCells(root(), 1)).toMatchObject({ cells: [{ name: 'a' }], rest: 1 })
  const { cells, rest } = sequenceCells(root('list'), 2)
  expect([cells.map(({ key, value }) => [key, value]), rest]).toEqual([
    [
      ['1:3', 1],
      ['1:5', null],
    ],
    1,
  ])
  expect(jsonCells(['x', 'y', 'z'], 2)).toMatchObject({ cells: [{ name: null, value: 'x' }, {}], rest: 1 })
})

it('[CON-21] shows an element that contains only text in one line', () => {
  const { root } = received((made) => {
    const [line, block] = [new Y.XmlElement('p'), new Y.XmlElement('ul')]
    line.insert(0, [new Y.XmlText('a')])
    block.insert(0, [new Y.XmlElement('li')])
    made.getXmlFragment('content').insert(0, [line, block])
  })
  const elements = sequenceCells(root(), 10).cells.map(({ value }) => value as SharedRoot)
  expect(elements.map(isLine)).toEqual([true, false])
  expect(elements.map(valueFormOf)).toMatchObject([
    { kind: 'element', name: 'p' },
    { kind: 'element', name: 'ul' },
  ])
})

it('[CON-21] shows every value that a document can have, and only the beginning of a long value', () => {
  const { root } = received((made) => {
    const map = made.getMap('content')
    map.set('big', 2n ** 60n)
    map.set('image', `data:${'x'.repeat(3_000_000)}`)
    map.set('no', undefined)
    map.set('not', Number.NaN)
    map.set('number', 1e21)
    map.set('text', 'a "b"')
  })
  const texts = mapCells(root(), 10).cells.map(({ value }) => {
    const form = valueFormOf(value)
    return form.kind === 'plain' ? form.text : form.kind
  })
  const [image = ''] = texts.splice(1, 1)
  expect(texts).toEqual(['1152921504606846976', 'undefined', 'NaN', '1e+21', '"a \\"b\\""'])
  expect(image.length).toBeLessThan(2_100)
  expect(image).toContain('… (3,000,005 characters)')
})

it('[CON-21] shows less of a text with many embeds than of a plain text', () => {
  const { root } = received((made) => {
    const text = made.getText('content')
    for (let at = 0; at < 300; at++) text.insertEmbed(at, { at })
  })
  const { runs, rest } = runsOf(root(), { limit: 2_000 })
  expect([runs.length, rest]).toEqual([100, 200])
})
