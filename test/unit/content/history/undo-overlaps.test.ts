import { isDeepStrictEqual } from 'node:util'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { DocumentHistory } from '../../../../src/core/content/history/document-history.ts'
import { type UndoResult, undoChanges } from '../../../../src/core/content/history/undo-changes.ts'
import type { UndoSelection } from '../../../../src/core/content/history/undo-selection.ts'
import type { OverlapPolicy } from '../../../../src/core/content/merge/overlap.ts'
import { wordTexts } from '../../../../src/core/content/merge/words.ts'
import { replaceContent } from '../../../../src/core/content/replace.ts'
import { formOfItem } from '../../../../src/core/content/yjs/sequence-content.ts'
import { Random } from '../../../support/data/random-doc.ts'
import { seed } from '../../../support/data/seed.ts'
import { times } from '../../../support/time/full-run.ts'
import { Recording } from './support.ts'

const text = (doc: Y.Doc): Y.Text => doc.getText('text')

/** A document with the content `content` at version 1. */
function recordingOf(content: string): Recording {
  const recording = new Recording()
  recording.change('ann', (doc) => text(doc).insert(0, content))
  return recording
}

/** Replaces a quote by the smallest change. */
const replace = (recording: Recording, by: string, quote: string, content: string): void =>
  recording.change(by, (doc) => {
    const at = text(doc).toJSON().indexOf(quote)
    let [start, end] = [0, 0]
    while (start < quote.length && quote[start] === content[start]) start += 1
    while (
      end < quote.length - start &&
      end < content.length - start &&
      quote.at(-1 - end) === content.at(-1 - end)
    )
      end += 1
    text(doc).delete(at + start, quote.length - start - end)
    text(doc).insert(at + start, content.slice(start, content.length - end))
  })

/** @param mergedUpTo version of a state at the start of the log, as after a compaction; null without one */
function undo(
  recording: Recording,
  selection: UndoSelection,
  onOverlap: OverlapPolicy = 'report',
  from = 1,
  to = recording.version,
  mergedUpTo: number | null = null,
): UndoResult {
  const merged = () =>
    new DocumentHistory({
      from: recording.bytes(0, from),
      to: [Y.mergeUpdates(recording.bytes(0, mergedUpTo ?? 0)), ...recording.bytes(mergedUpTo ?? 0, to)],
      after: recording.bytes(to),
    })
  const result = undoChanges(
    mergedUpTo !== null ? merged() : recording.history(from, to, recording.version),
    recording.attribution(),
    selection,
    onOverlap,
  )
  if (result.update !== null)
    recording.append({ by: 'undoer', at: recording.now++, source: 'undo', meta: null, bytes: result.update })
  return result
}

const contentOf = (recording: Recording): string => text(recording.at()).toJSON()

const number = { path: '', base: '170', theirs: '1705', mine: '100' }

it('[ATT-106] keeps the present word that others have also changed, and undoes all other words', () => {
  const recording = recordingOf('Budget: 100 EUR, on Monday.')
  replace(recording, 'agent', '100', '170')
  replace(recording, 'agent', 'Monday', 'Friday')
  replace(recording, 'ben', '170', '1705')
  const result = undo(recording, { by: 'agent' })
  expect(contentOf(recording)).toBe('Budget: 1705 EUR, on Monday.')
  expect(result).toMatchObject({
    overlaps: [{ ...number, kept: 'theirs' }],
    notUndone: [{ reason: 'overlap' }],
  })
  expect(undo(recording, { by: 'agent' })).toMatchObject({ update: null, overlaps: [number] })
})

it('[ATT-107] gives the word its text before the undone changes with `keepMine`', () => {
  const recording = recordingOf('Budget: 100 EUR, on Monday.')
  const { version } = recording
  replace(recording, 'agent', '100', '170')
  replace(recording, 'ben', '170', '1705')
  const to = recording.version
  const result = undo(recording, { by: 'agent' }, 'keepMine', version, to)
  expect(contentOf(recording)).toBe('Budget: 100 EUR, on Monday.')
  expect(result).toMatchObject({ overlaps: [{ ...number, kept: 'mine' }], notUndone: [], undone: 1 })
  expect(undo(recording, { by: 'agent' }, 'keepMine', version, to).update).toBeNull()
})

it('[ATT-107] restores a part of the word that others have deleted with `keepMine`', () => {
  const recording = recordingOf('the budgets')
  replace(recording, 'agent', 'budgets', 'budxgets')
  replace(recording, 'ben', 'budxgets', 'budxget')
  undo(recording, { by: 'agent' }, 'keepMine')
  expect(contentOf(recording)).toBe('the budgets')
  expect(undo(recording, { by: 'agent' }, 'keepMine').update).toBeNull()
})

it('[ATT-107] makes no number that only the undone changes and earlier ones would have made, with `keepMine`', () => {
  const recording = recordingOf('known 100, naive')
  replace(recording, 'agent', 'naive', 'nave')
  replace(recording, 'ben', 'known 100', 'know100')
  replace(recording, 'ben', 'know100', 'know00')
  replace(recording, 'ann', 'know00', 'know0 0')
  replace(recording, 'agent', 'know0 0', 'k 0')
  undo(recording, { by: 'agent' }, 'keepMine')
  expect(contentOf(recording)).toBe('known 100, naive')
})

it('[ATT-107] changes nothing with `fail`', () => {
  const recording = recordingOf('Budget: 100 EUR.')
  replace(recording, 'agent', '100', '170')
  replace(recording, 'ben', '170', '1705')
  const details = { overlaps: [{ ...number, kept: 'theirs' }] }
  expect(() => undo(recording, { by: 'agent' }, 'fail')).toThrow(
    expect.objectContaining({ code: 'crdt/overlap', details }),
  )
})

it('[ATT-106] undoes the words around a comma and words that others have added', () => {
  const recording = recordingOf('')
  const paragraph = 'The weaver sets the loom. The loom is set.'
  recording.change('agent', (doc) => text(doc).insert(0, paragraph))
  replace(recording, 'ben', 'sets', 'sets,')
  replace(recording, 'ben', 'the loom.', 'the old loom.')
  const result = undo(recording, { by: 'agent' }, 'report', 0)
  expect({ content: contentOf(recording), result }).toMatchObject({
    content: ',old ',
    result: { notUndone: [] },
  })
  expect(result.overlaps).toBeUndefined()
})

it('[ATT-106] keeps a space between words of others', () => {
  const recording = recordingOf('')
  recording.change('agent', (doc) => text(doc).insert(0, '(  ) and (  )'))
  replace(recording, 'ben', '(  )', '( one )')
  replace(recording, 'ben', '(  )', '( two )')
  undo(recording, { by: 'agent' }, 'report', 0)
  expect(contentOf(recording)).toBe('one two')
})

it('[ATT-106] undoes a change of a word that others have changed long before', () => {
  const recording = recordingOf('Budget: 100 EUR.')
  replace(recording, 'ben', '100', '1005')
  recording.now += 60_000
  replace(recording, 'agent', '1005', '1705')
  expect(undo(recording, { by: 'agent' }).overlaps).toBeUndefined()
  expect(contentOf(recording)).toBe('Budget: 1005 EUR.')
})

it('[ATT-106] restores a word of others that an undone change has replaced, also directly after it was written', () => {
  for (const seconds of [0, 60])
    for (const [quote, content] of [
      ['world', 'Weft'],
      ['world', 'work'],
      ['world', 'worlds'],
      ['world', 'sworld'],
      ['world', 'wosrld'],
      ['hello world', 'weft'],
    ] as const)
      for (const policy of ['report', 'keepMine'] as const) {
        const recording = new Recording()
        recording.change('ann', (doc) => text(doc).insert(0, 'Hi, hello world'))
        recording.now += seconds * 1_000
        replace(recording, 'ben', quote, content)
        const result = undo(recording, { by: 'ben' }, policy, 0)
        const message = JSON.stringify({ seconds, quote, content, policy, result })
        expect(contentOf(recording), message).toBe('Hi, hello world')
        expect(result, message).toMatchObject({ notUndone: [], undone: 1 })
        expect(result.overlaps).toBeUndefined()
      }
})

it('[ATT-106] keeps the replacement of a word that others may have written later than an undone change', () => {
  for (const isMerged of [true, false]) {
    const recording = new Recording()
    if (!isMerged) replace(recording, 'ben', '', 'Hi.')
    recording.change('ann', (doc) => text(doc).insert(text(doc).length, ' there, hello world'))
    replace(recording, 'ben', 'world', 'Weft')
    const result = undo(
      recording,
      { by: 'ben' },
      'report',
      0,
      recording.version,
      isMerged ? recording.version : null,
    )
    expect(contentOf(recording)).toBe(' there, hello Weft')
    expect(result.notUndone).toMatchObject([{ reason: 'overlap' }])
  }
})

it('[ATT-106] undoes a change of a word that others have changed before, if the log begins with a state', () => {
  const recording = new Recording()
  recording.change('agent', (doc) => text(doc).insert(0, 'Budget: 100 EUR.'))
  recording.now += 60_000
  replace(recording, 'ben', '100', '1005')
  recording.now += 60_000
  replace(recording, 'agent', '1005', '1705')
  const result = undo(recording, { by: 'agent' }, 'keepMine', 1, recording.version, 1)
  expect(contentOf(recording)).toBe('Budget: 1005 EUR.')
  expect(result.overlaps).toBeUndefined()
})

it('[ATT-106] keeps the replacement of a word to which the same user and others have written parts', () => {
  const recording = recordingOf('Say ')
  replace(recording, 'agent', 'Say ', 'Say foo')
  replace(recording, 'ben', 'foo', 'foobar')
  replace(recording, 'agent', 'foobar', 'Weft')
  const result = undo(recording, { by: 'agent' })
  expect(contentOf(recording)).toBe('Say Weft')
  expect(result.notUndone).toMatchObject([{ reason: 'overlap' }])
})

it('[ATT-106] does not restore letters with which others have changed a word that the undone changes wrote and deleted', () => {
  const recording = recordingOf('Say ')
  replace(recording, 'agent', 'Say ', 'Say wxrld')
  replace(recording, 'ben', 'wxrld', 'world')
  replace(recording, 'agent', 'Say world', 'Say ')
  undo(recording, { by: 'agent' })
  expect(contentOf(recording)).toBe('Say ')
})

const vocabulary = [
  '100',
  '1,000.50',
  'ship',
  'won’t',
  'a',
  'naïve',
  '漢字',
  'well-known',
  'e\u0301tude',
  '12:30',
]
const separators = [' ', ' ', ' ', '. ', ', ', '']
const randomWords = (random: Random, count: number): string =>
  Array.from({ length: count }, () => random.pick(vocabulary) + random.pick(separators)).join('')

function editText(doc: Y.Doc, random: Random): void {
  const content = text(doc)
  const at = random.below(content.length + 1)
  const change = random.below(4)
  if (change === 0) content.insert(at, randomWords(random, 1 + random.below(3)))
  else if (change === 1) content.insert(at, random.pick(['x', '7', ',', ' ', 'y z']))
  else content.delete(at, Math.min(content.length - at, 1 + random.below(change === 2 ? 2 : 8)))
}

it(`[ATT-106] makes no word that no side wrote (seed ${seed})`, () => {
  let overlapping = 0
  for (let round = 0; round < times(300, 4_000); round++) {
    const random = new Random(seed + round)
    const recording = recordingOf(randomWords(random, 4 + random.below(8)))
    const known = new Set(wordTexts(contentOf(recording)))
    const users = ['ann', 'ben', 'agent']
    for (const by of users) recording.sync(by)
    for (let step = 0; step < 4 + random.below(10); step++) {
      const by = random.pick(users)
      if (random.once(2)) recording.sync(by)
      recording.edit(by, (doc) => editText(doc, random))
      for (const doc of [recording.replica(by), recording.at()])
        for (const word of wordTexts(text(doc).toJSON())) known.add(word)
      if (random.once(5)) recording.now += 20_000
    }
    const to = recording.version
    const before = contentOf(recording)
    const policy = random.pick(['report', 'keepMine'] as const)
    const merged = random.once(3) ? 1 + random.below(to) : null
    const { overlaps = [] } = undo(recording, { by: 'agent' }, policy, 1, to, merged)
    const message = JSON.stringify({ round, policy, before, after: contentOf(recording), overlaps })
    const unknown = [...wordTexts(contentOf(recording))].filter((word) => !known.has(word))
    expect(unknown, message).toEqual([])
    if (overlaps.length > 0) overlapping += 1
  }
  expect(overlapping).toBeGreaterThan(20)
})

it.each([
  ['replaced', ['a', 'X', 'c'], ['a', 'b', 'c']],
  ['deleted', ['a', 'c'], ['a', 'b', 'c']],
  ['restored', ['a', 'b', 'c'], null],
])('[ATT-114] does not restore an element whose replacement others have %s', (_, list, mine) => {
  for (const policy of ['report', 'keepMine'] as const) {
    const recording = new Recording()
    for (const [by, data] of Object.entries({ ann: ['a', 'b', 'c'], agent: ['a', 'B', 'c'], ben: list }))
      recording.change(by, (doc) => arrayList.write(doc, data))
    const { overlaps, undone, notUndone } = undo(recording, { by: 'agent' }, policy)
    expect(arrayList.read(recording.at())).toEqual(policy === 'report' || mine === null ? list : mine)
    if (mine === null) expect({ overlaps, undone, notUndone }).toEqual({ undone: 1, notUndone: [] })
    else
      expect({ overlaps, undone }).toMatchObject({
        overlaps: [{ path: '', base: ['B'], mine: ['b'] }],
        undone: policy === 'report' ? 0 : 1,
      })
  }
})

it('[ATT-114] does not restore an embed or an element next to the one by which others have replaced it', () => {
  const recording = new Recording()
  const set = (by: string, image: number, name: string): void =>
    recording.change(by, (doc) => {
      const data = [{ insert: 'a ' }, { insert: { image } }, { insert: ' b\n' }]
      replaceContent(doc, { contentKey: 'text', type: 'delta', data })
      replaceContent(doc, { contentKey: 'xml', type: 'xml', data: `<p>a</p><${name}>words</${name}>` })
    })
  set('ann', 1, 'p')
  set('agent', 2, 'h')
  set('ben', 3, 'q')
  const content = (): unknown => [
    ...text(recording.at())
      .toDelta()
      .map(({ insert }: { insert: unknown }) => insert),
    recording.at().getXmlFragment('xml').toJSON(),
  ]
  expect(undo(recording, { by: 'agent' })).toMatchObject({
    undone: 0,
    overlaps: [
      { base: [{ image: 2 }], theirs: [{ image: 3 }], mine: [{ image: 1 }] },
      { theirs: '<q>words</q>' },
    ],
  })
  expect(content()).toEqual(['a ', { image: 3 }, ' b\n', '<p>a</p><q>words</q>'])
  undo(recording, { by: 'agent' }, 'keepMine')
  expect(content()).toEqual(['a ', { image: 1 }, ' b\n', '<p>a</p><p>words</p>'])
})

type Item = { id: number; [member: string]: unknown }

/** How items are stored in a sequence. */
interface ItemList {
  readonly read: (doc: Y.Doc) => readonly Item[]
  readonly write: (doc: Y.Doc, list: readonly unknown[]) => unknown
}

const arrayList: ItemList = {
  read: (doc) => doc.getArray('list').toJSON(),
  write: (doc, data) => replaceContent(doc, { contentKey: 'list', type: 'array', data }),
}

/** As editors write: they replace a node that gets another kind. */
const nodeList: ItemList = {
  read: (doc) =>
    doc
      .getXmlFragment('list')
      .toArray()
      .map((node) => JSON.parse((node as Y.XmlElement).getAttribute('item') as string)),
  write: (doc, list) => {
    const present = nodeList.read(doc)
    const isSame = (at: number, end = 0): boolean =>
      isDeepStrictEqual(present.at(at), list.at(at)) && Math.min(present.length, list.length) > end
    let [start, end] = [0, 0]
    while (isSame(start, start)) start += 1
    while (isSame(-1 - end, start + end)) end += 1
    const root = doc.getXmlFragment('list')
    root.delete(start, present.length - start - end)
    const nodes = list.slice(start, list.length - end).map((item) => {
      const node = new Y.XmlElement('item')
      node.setAttribute('item', JSON.stringify(item))
      return node
    })
    root.insert(start, nodes)
  },
}

it(`[ATT-114] doubles no element of a list, and keeps those of others (seed ${seed})`, () => {
  let overlapping = 0
  for (let round = 0; round < times(60, 2_000); round++) {
    const random = new Random(seed + round)
    const recording = new Recording()
    const list: Item[] = [1, 2, 3, 4].map((id) => ({ id }))
    const { read, write } = random.pick([arrayList, nodeList])
    recording.change('ann', (doc) => write(doc, list))
    const last = new Map<number, string>()
    for (let step = 1; step < 3 + random.below(8); step++) {
      const by = random.pick(['ann', 'ben', 'agent'])
      for (let count = 1 + random.below(3), at = random.below(list.length + 1); count > 0; count--, at++) {
        const action = random.below(8)
        const present = action === 0 ? undefined : list[at]
        const item = present === undefined ? { id: 10 * step + count } : { ...present, [by]: step }
        list.splice(at, present === undefined ? 0 : 1, ...(action === 1 ? [] : [item]))
        last.set(item.id, by)
      }
      recording.change(by, (doc) => write(doc, list))
    }
    const policy = random.pick(['report', 'keepMine'] as const)
    const before = read(recording.at())
    const to = recording.version
    const result = undo(recording, { by: 'agent' }, policy, 1, to)
    const after = read(recording.at())
    const message = JSON.stringify({ round, policy, before, after, result: result.overlaps })
    const ids = after.map(({ id }) => id)
    expect(new Set(ids).size, message).toBe(ids.length)
    const isOfOthers = ({ id }: Item): boolean => (last.get(id) ?? 'agent') !== 'agent'
    const kept = before.filter(({ id }) => id < 10 || policy === 'report').map(({ id }) => id)
    expect(
      ids.filter((id) => kept.includes(id)),
      message,
    ).toEqual(kept.filter((id) => ids.includes(id)))
    for (const { id } of before) if (id < 10) expect(ids, message).toContain(id)
    if (policy === 'report') expect(after.filter(isOfOthers), message).toEqual(before.filter(isOfOthers))
    expect(undo(recording, { by: 'agent' }, policy, 1, to).update, message).toBeNull()
    if (result.overlaps !== undefined) overlapping += 1
  }
  expect(overlapping).toBeGreaterThan(20)
})

it('[ATT-114] compares deeply nested elements without a form that grows with each level', () => {
  const doc = new Y.Doc()
  let inner: Y.XmlElement | Y.XmlFragment = doc.getXmlFragment('xml')
  for (let level = 0; level < 60; level += 1) {
    const element = new Y.XmlElement('div')
    inner.insert(0, [element])
    inner = element
  }
  const outermost = doc.getXmlFragment('xml')._start as Y.Item
  expect(formOfItem(outermost).length).toBeLessThan(60 * 30)
})
