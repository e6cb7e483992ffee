import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { groupChanges } from '../../../../src/core/content/history/change-groups.ts'
import { type ChangeSet, readChangeSets } from '../../../../src/core/content/history/change-sets.ts'
import { DocumentHistory } from '../../../../src/core/content/history/document-history.ts'
import { SegmentReader } from '../../../../src/core/content/history/segments.ts'
import { editRandomly, Random } from '../../../support/data/random-doc.ts'
import { seed } from '../../../support/data/seed.ts'
import { cpuMs } from '../../../support/time/clock.ts'
import { times } from '../../../support/time/full-run.ts'
import { Recording } from './support.ts'

const text = (doc: Y.Doc): Y.Text => doc.getText('text')

const changesOf = (recording: Recording, from: number, options = {}): readonly ChangeSet[] =>
  readChangeSets(recording.reader(from), options).changes

it('[ATT-35] shows the texts that each user has inserted and deleted, with the text around them', () => {
  const recording = new Recording()
  recording.change('ann', (doc) => text(doc).insert(0, 'The quick fox jumps over the dog'))
  const from = recording.version
  recording.change('ben', (doc) => {
    text(doc).delete(4, 5)
    text(doc).insert(4, 'slow')
  })
  recording.now += 10_000
  recording.change('eve', (doc) => text(doc).insert(text(doc).length, ' again'))
  const changes = changesOf(recording, from)
  expect(changes.map(({ userId, inserted, deleted }) => ({ userId, inserted, deleted }))).toEqual([
    { userId: 'ben', inserted: 4, deleted: 5 },
    { userId: 'eve', inserted: 6, deleted: 0 },
  ])
  expect(changes.map(({ hunks }) => hunks)).toMatchObject([
    [
      {
        anchor: { contentKey: 'text', path: [4], before: 'The ', after: ' fox jumps over the dog again' },
        deleted: 'quick',
        inserted: 'slow',
        truncated: false,
      },
    ],
    [{ anchor: { path: [31], before: 'The slow fox jumps over the dog', after: '' }, inserted: ' again' }],
  ])
})

it('[ATT-33] starts a new change set after a pause, and for another source or other data', () => {
  const recording = new Recording()
  const type = (by: string, word: string, origin = {}): void =>
    recording.change(by, (doc) => text(doc).insert(text(doc).length, word), origin)
  type('ann', 'one ')
  recording.now += 200_000
  type('ann', 'two ')
  recording.now += 400_000
  type('ann', 'three ')
  type('ann', 'four ', { source: 'rest', meta: { task: 'a', run: 1 } })
  type('ann', 'five ', { source: 'rest', meta: { run: 1, task: 'a' } })
  type('ann', 'six ', { source: 'rest', meta: { task: 'b' } })
  const inserted = (options = {}): string[] =>
    changesOf(recording, 0, options).map(({ hunks }) => hunks.map((hunk) => hunk.inserted).join(''))
  expect(inserted().toSorted()).toEqual(['four five ', 'one two ', 'six ', 'three '])
  expect(inserted({ groupSeconds: 60 })).toHaveLength(5)
  expect(inserted({ meta: { run: 1 } })).toEqual(['four five '])
  expect(inserted({ by: 'ben' })).toEqual([])
  expect(inserted({ skip: 1, changesMax: 1, groupSeconds: 600 })).toHaveLength(1)
})

it('[ATT-35] shows elements, attributes and texts of XML in one hunk if they are adjacent', () => {
  const recording = new Recording()
  const paragraph = (words: string): Y.XmlElement => {
    const element = new Y.XmlElement('paragraph')
    element.insert(0, [new Y.XmlText(words)])
    return element
  }
  recording.change('ann', (doc) =>
    doc.getXmlFragment('default').insert(0, [paragraph('first'), paragraph('last')]),
  )
  const from = recording.version
  recording.change('ben', (doc) => {
    const heading = paragraph('middle')
    heading.setAttribute('level', '2')
    doc.getXmlFragment('default').insert(1, [heading, paragraph('more')])
  })
  recording.change('eve', (doc) => {
    const root = doc.getXmlFragment('default')
    ;(root.get(0) as Y.XmlElement).setAttribute('align', 'left')
    root.delete(3, 1)
  })
  const [ben, eve] = changesOf(recording, from)
  expect(ben?.hunks).toMatchObject([
    {
      anchor: { path: [1], before: 'first', after: '' },
      inserted: 'middle\nmore',
      insertedNodes: ['paragraph', 'paragraph'],
      entries: [],
    },
  ])
  expect(eve?.hunks).toMatchObject([
    { anchor: { path: [0, 'align'] }, entries: [{ key: 'align', after: 'left' }] },
    { anchor: { path: [3], before: 'first\nmiddle\nmore' }, deleted: 'last', deletedNodes: ['paragraph'] },
  ])
})

it('[ATT-35] shows entries of maps and elements of arrays with their values before and after', () => {
  const recording = new Recording()
  recording.change('ann', (doc) => {
    doc.getMap('map').set('title', 'old')
    doc.getMap('map').set('gone', 1)
    doc.getArray('list').insert(0, [1, 2, { three: 3 }])
  })
  const from = recording.version
  recording.change('ben', (doc) => {
    doc.getMap('map').set('title', 'new')
    doc.getMap('map').delete('gone')
    doc.getMap('map').set('inner', new Y.Map([['deep', new Y.Text('words')]]))
    doc.getArray('list').delete(1, 2)
    doc.getArray('list').insert(1, ['two', new Y.Array()])
  })
  const [ben] = changesOf(recording, from)
  expect(ben?.hunks).toMatchObject([
    {
      anchor: { contentKey: 'list', path: [1] },
      deletedValues: [2, { three: 3 }],
      insertedValues: ['two', []],
    },
    {
      anchor: { contentKey: 'map', path: ['title'] },
      entries: [{ key: 'title', before: 'old', after: 'new' }],
    },
    { anchor: { path: ['gone'] }, entries: [{ key: 'gone', before: 1 }] },
    { anchor: { path: ['inner'] }, entries: [{ key: 'inner', after: { deep: 'words' } }] },
  ])
  expect(ben?.hunks).toHaveLength(4)
})

it('[ATT-35] shows the text whose formatting has changed', () => {
  const recording = new Recording()
  recording.change('ann', (doc) => text(doc).insert(0, 'plain bold plain', {}))
  recording.change('ann', (doc) => text(doc).format(6, 4, { bold: true }))
  const from = recording.version
  recording.change('ben', (doc) => text(doc).format(0, 5, { link: { href: 'x' } }))
  recording.change('eve', (doc) => text(doc).format(6, 4, { bold: null }))
  const [ben, eve] = changesOf(recording, from)
  expect(ben?.hunks).toMatchObject([
    { formatting: [{ name: 'link', before: null, after: { href: 'x' }, text: 'plain' }] },
  ])
  expect(eve?.hunks).toMatchObject([
    { formatting: [{ name: 'bold', before: true, after: null, text: 'bold' }] },
  ])
  expect([ben, eve].map((change) => change?.hunks.length)).toEqual([1, 1])
})

it('[ATT-36] cuts large hunks and many hunks, and states so', () => {
  const recording = new Recording()
  recording.change('ann', (doc) => text(doc).insert(0, '-'.repeat(100)))
  const from = recording.version
  recording.change('ben', (doc) => {
    for (let at = 100; at >= 0; at -= 10) text(doc).insert(at, 'x'.repeat(20))
  })
  const read = (options: object) => changesOf(recording, from, options)[0]
  expect(read({})).toMatchObject({ inserted: 220, truncated: false })
  expect(read({})?.hunks).toHaveLength(11)
  expect(read({ hunksMax: 3 })).toMatchObject({ inserted: 220, truncated: true })
  expect(read({ hunksMax: 3 })?.hunks).toHaveLength(3)
  expect(read({ charactersMax: 5 })?.hunks[0]).toMatchObject({ inserted: 'xxxxx', truncated: true })
})

it(`[ATT-32] puts each changed id into one change set (seed ${seed})`, () => {
  for (let round = 0; round < times(40, 400); round++) {
    const random = new Random(seed + round)
    const recording = new Recording()
    const users = ['ann', 'ben', 'eve']
    let from = 0
    const steps = 10 + random.below(40)
    for (let step = 0; step < steps; step++) {
      const by = random.pick(users)
      if (random.once(2)) recording.sync(by)
      recording.edit(by, (doc) => editRandomly(doc, random))
      if (random.once(5)) recording.now += 1_000_000
      if (step === steps >> 2) from = recording.version
    }
    const history = recording.history(from)
    const reader = new SegmentReader(history, recording.attribution())
    const { groups } = groupChanges(reader)
    const owners = new Map<string, string>()
    for (const group of groups)
      for (const [what, ranges] of [
        ['inserted', group.inserted],
        ['deleted', group.deleted],
      ] as const)
        for (const { client, clock, length } of ranges)
          for (let at = clock; at < clock + length; at++) {
            const id = `${what} ${client} ${at}`
            expect(owners.has(id), `${id}, seed ${seed + round}`).toBe(false)
            owners.set(id, group.changeId)
          }
    for (const segment of reader.all()) {
      const { item, offset, length, state, inserter, deleter } = segment
      for (let at = offset; at < offset + length; at++) {
        const id = `${item.id.client} ${item.id.clock + at}`
        const [insertion, deletion] = [owners.get(`inserted ${id}`), owners.get(`deleted ${id}`)]
        if (state === 'inserted') expect(insertion).toBeDefined()
        if (state === 'deleted') expect(deletion).toBeDefined()
        if (state === 'unchanged' || state === 'past') expect(insertion ?? deletion).toBeUndefined()
        if (state === 'transient' && inserter?.by !== deleter?.by)
          expect([insertion, deletion]).not.toContain(undefined)
      }
    }
    // ATT-34: another read, from whole updates in another grouping, has the same ids.
    const again = new SegmentReader(recording.history(from), recording.attribution())
    expect(groupChanges(again).groups.map(({ changeId }) => changeId)).toEqual(
      groups.map(({ changeId }) => changeId),
    )
    expect(new Set(groups.map(({ changeId }) => changeId)).size).toBe(groups.length)
    const { changes } = readChangeSets(again)
    for (const { hunks } of changes) expect(hunks.length).toBeGreaterThan(0)
  }
})

it('[ATT-34] gives a change set the same id for each read, also from a whole state', () => {
  const recording = new Recording()
  recording.change('ann', (doc) => text(doc).insert(0, 'words'))
  const from = recording.version
  recording.change('ben', (doc) => text(doc).insert(2, '!'))
  recording.change('ann', (doc) => text(doc).delete(0, 1))
  const changes = changesOf(recording, from)
  expect(new Set(changes.map(({ changeId }) => changeId)).size).toBe(2)
  expect(changesOf(recording, from)).toEqual(changes)
  const state = Y.encodeStateAsUpdate(recording.at())
  const history = new DocumentHistory({ from: recording.bytes(0, from), to: [state] })
  expect(readChangeSets(new SegmentReader(history, recording.attribution())).changes).toEqual(changes)
})

it('[ATT-37] reads many changes in linear time', () => {
  // The shortest of several measurements, because the compiler and the garbage collector only make them longer.
  const shortest = (count: number): number => {
    const recording = new Recording()
    recording.change('ann', (doc) => text(doc).insert(0, '-'.repeat(count * 2)))
    const from = recording.version
    const doc = recording.doc('ben')
    for (let at = 0; at < count; at++) {
      recording.edit('ben', () => text(doc).insert(at * 3, 'x'))
      if (at % 10 === 0) recording.now += 6_000
    }
    const measured = Array.from({ length: 3 }, () => {
      const reader = recording.reader(from)
      const start = cpuMs()
      readChangeSets(reader, { hunksMax: count })
      return cpuMs() - start
    })
    return Math.min(...measured)
  }
  shortest(2_000)
  const [small, large] = [shortest(4_000), shortest(32_000)]
  // Linear: 8 times. Quadratic: 64 times.
  expect(large).toBeLessThan(Math.max(small, 5) * 24)
})
