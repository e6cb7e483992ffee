import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { readRuns } from '../../../../src/core/content/history/author-runs.ts'
import { Random } from '../../../support/data/random-doc.ts'
import { seed } from '../../../support/data/seed.ts'
import { times } from '../../../support/time/full-run.ts'
import { Recording } from './support.ts'

it(`[ATT-30] names the author of each character of a text (seed ${seed})`, () => {
  for (let round = 0; round < times(30, 300); round++) {
    const random = new Random(seed + round)
    const recording = new Recording()
    // Each user types only the first letter of the own name, so that the text itself shows the authors.
    for (let step = 0; step < 60; step++) {
      const by = random.pick(['ann', 'ben', 'eve'])
      if (random.once(2)) recording.sync(by)
      recording.edit(by, (doc) => {
        const text = doc.getText('text')
        if (random.once(4) && text.length > 2) text.delete(random.below(text.length - 1), 1)
        else text.insert(random.below(text.length + 1), by.slice(0, 1).repeat(1 + random.below(3)))
      })
      if (random.once(8)) recording.now += 100_000
    }
    const doc = recording.at()
    const { runs, truncated } = readRuns(doc, recording.attribution(), 'text', 10_000)
    const message = `seed ${seed + round}`
    expect(truncated).toBe(false)
    expect(runs.map(({ text }) => text).join(''), message).toBe(doc.getText('text').toJSON())
    let offset = 0
    for (const { text = '', path, length, userId, source } of runs) {
      expect(new Set(text), message).toEqual(new Set([userId?.slice(0, 1)]))
      expect({ path, length, source }).toEqual({ path: [offset], length: text.length, source: 'socket' })
      offset += length
    }
  }
})

it('[ATT-105] gives each part of a text its own time, also if later text stands before it', () => {
  const recording = new Recording()
  const began = recording.now
  const type = (place: number, text: string, afterMs: number): void => {
    recording.now = began + afterMs
    recording.change('ann', (doc) => doc.getText('text').insert(place, text))
  }
  type(0, 'first ', 0)
  type(6, 'second ', 4_000)
  type(13, 'third ', 30_000)
  type(0, 'before ', 50_000)
  const { runs } = readRuns(recording.at(), recording.attribution(), 'text', 10)
  expect(runs.map(({ text, at }) => [text, Math.round(((at ?? 0) - began) / 1_000)])).toEqual([
    ['before ', 50],
    ['first second ', 0],
    ['third ', 30],
  ])
})

it('[ATT-30] gives a part without a known origin no user, and cuts long lists', () => {
  const recording = new Recording()
  recording.change('ann', (doc) => doc.getText('text').insert(0, 'old '))
  recording.change('ben', (doc) => doc.getText('text').insert(4, 'new'), { source: 'rest', meta: { run: 7 } })
  const { inserted, deleted } = recording.attribution()
  const known = { inserted: new Map([[101, inserted.get(101) ?? []]]), deleted }
  expect(readRuns(recording.at(), known, 'text', 10)).toEqual({
    truncated: false,
    runs: [
      { path: [0], length: 4, text: 'old ', userId: null, at: null, source: null, meta: null },
      { path: [4], length: 3, text: 'new', userId: 'ben', at: 1_000_001, source: 'rest', meta: { run: 7 } },
    ],
  })
  expect(readRuns(recording.at(), known, 'text', 1)).toMatchObject({
    truncated: true,
    runs: [{ text: 'old ' }],
  })
})

it('[ATT-31] lists elements, entries, values and embeds with their paths', () => {
  const recording = new Recording()
  recording.change('ann', (doc) => {
    const element = new Y.XmlElement('paragraph')
    element.insert(0, [new Y.XmlText('in a paragraph')])
    doc.getXmlFragment('xml').insert(0, [element])
    doc.getMap('map').set('key', 1)
    doc.getArray('list').insert(0, [1, 2])
    doc.getText('text').insert(0, 'ab')
  })
  recording.change('ben', (doc) => {
    ;(doc.getXmlFragment('xml').get(0) as Y.XmlElement).setAttribute('align', 'left')
    doc.getMap('map').set('inner', new Y.Map([['deep', true]]))
    doc.getArray('list').insert(1, ['x', new Y.Text('words')])
    doc.getText('text').insertEmbed(1, { image: 'x' })
  })
  const read = (contentKey: string) =>
    readRuns(recording.at(), recording.attribution(), contentKey, 100).runs.map(
      ({ path, length, userId, text, node }) =>
        [path.join('/'), length, userId, text ?? node].filter((part) => part !== undefined).join(' '),
    )
  expect(read('xml')).toEqual(['0 1 ann paragraph', '0/align 1 ben', '0/0/0 14 ann in a paragraph'])
  expect(read('map')).toEqual(['key 1 ann', 'inner 1 ben', 'inner/deep 1 ben'])
  expect(read('list')).toEqual(['0 1 ann', '1 1 ben', '2 1 ben', '2/0 5 ben words', '3 1 ann'])
  expect(read('text')).toEqual(['0 1 ann a', '1 1 ben', '2 1 ann b'])
})
