import { expect, it } from 'vitest'
import * as Y from 'yjs'
import type { OverlapPolicy } from '../../../../src/content/merge/overlap.ts'
import { wordTexts } from '../../../../src/content/merge/words.ts'
import type { ReplacementResult } from '../../../../src/content/replacement-result.ts'
import { findStreamPlace } from '../../../../src/content/stream/stream-place.ts'
import { deleteReplaced, writeStreamed } from '../../../../src/content/stream/stream-writing.ts'
import { Random } from '../../../support/data/random-doc.ts'
import { seed } from '../../../support/data/seed.ts'
import { times } from '../../../support/time/full-run.ts'

interface Streamed {
  readonly result: ReplacementResult
  readonly text: string
  readonly theirs: string
}

const streamed = 77

/**
 * Streams pieces in the place of a target, while users change the text.
 * @param change changes the text after a piece has been written; `theirs` is the text without the stream
 */
function replaceWithStream(
  content: string,
  find: string,
  pieces: readonly string[],
  change: (text: Y.Text, piece: number) => void,
  onOverlap: OverlapPolicy = 'report',
): Streamed {
  const doc = new Y.Doc()
  doc.getText('content').insert(0, content)
  const request = { edit: { replace: { find } }, format: 'text' } as const
  const { place, replaced } = findStreamPlace(doc, request, null)
  const writer = { place, client: streamed, counter: null }
  for (const [index, piece] of pieces.entries()) {
    writeStreamed(doc, writer, piece, null)
    change(doc.getText('content'), index)
  }
  const theirs = withoutStream(doc)
  const result = deleteReplaced(doc, writer, replaced, onOverlap)
  return { result, text: doc.getText('content').toJSON(), theirs }
}

function withoutStream(doc: Y.Doc): string {
  const copy = new Y.Doc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc))
  let text = ''
  for (let item = copy.getText('content')._start; item !== null; item = item.right)
    if (!item.deleted && item.id.client !== streamed && item.content instanceof Y.ContentString)
      text += item.content.str
  return text
}

const insertAfter = (quote: string, added: string) => (text: Y.Text, piece: number) => {
  if (piece === 0) text.insert(text.toJSON().indexOf(quote) + quote.length, added)
}

const sentence = 'The budgets are 100 EUR.'
it.each<[string, string, string, (text: Y.Text, piece: number) => void, string, object[]]>([
  [
    'a number',
    '100',
    '170',
    insertAfter('100', '5'),
    'The budgets are 1005 EUR.',
    [{ base: '100', theirs: '1005', mine: '170' }],
  ],
  [
    'one of several words',
    'are 100 EUR',
    'were 170',
    insertAfter('10', '5'),
    'The budgets 1050 were 170.',
    [{ base: '100', theirs: '1050' }],
  ],
  [
    'several words, and one next to the stream',
    'are 100 EUR',
    'were 170',
    (text, piece) => {
      insertAfter('10', '5')(text, piece)
      insertAfter('E', '1')(text, piece)
    },
    'The budgets 1050 E1UR 170.',
    [
      { base: '100', theirs: '1050' },
      { base: 'EUR', theirs: 'E1UR', mine: 'were' },
    ],
  ],
  [
    'a word of which the target is a part',
    'budget',
    'cost',
    insertAfter('bud', 'x'),
    'The budxgets are 100 EUR.',
    [{ base: 'budgets', theirs: 'budxgets', mine: 'costs' }],
  ],
  [
    'a word without a deleted letter',
    'budget',
    'cost',
    (text) => text.delete(text.toJSON().indexOf('s are'), 1),
    'The budget are 100 EUR.',
    [{ base: 'budgets', theirs: 'budget', mine: 'costs' }],
  ],
])('[STRM-114] keeps %s at an overlap', (_name, find, piece, change, expected, overlaps) => {
  const { result, text } = replaceWithStream(sentence, find, [piece], change)
  expect(text).toBe(expected)
  expect(result.overlaps).toEqual(overlaps.map((overlap) => ({ path: '', ...overlap, kept: 'theirs' })))
})

it('[STRM-114] names nothing if users change other words, or have made the same change', () => {
  const content = 'It is 100 EUR now.'
  for (const change of [insertAfter('now', 'here'), insertAfter('It', 'em'), insertAfter('is ', 'only ')]) {
    const { result } = replaceWithStream(content, '100', ['170'], change)
    expect(result).toMatchObject({ changed: true, deletions: 3 })
    expect(result.overlaps).toBeUndefined()
  }
  const { result, text } = replaceWithStream(content, '100', ['170'], (text, piece) => {
    if (piece === 0) text.insert(text.toJSON().indexOf('00'), '7')
    if (piece === 0) text.delete(text.toJSON().indexOf('700') + 1, 1)
  })
  expect({ text, overlaps: result.overlaps }).toEqual({ text: 'It is 170 EUR now.', overlaps: undefined })
})

it('[STRM-114] removes the changed words with `keepMine`', () => {
  const mine = (find: string, change: (text: Y.Text, piece: number) => void) =>
    replaceWithStream('The budgets of 100 EUR.', find, ['cost'], change, 'keepMine')
  const number = mine('100', insertAfter('10', '5'))
  expect(number.text).toBe('The budgets of cost EUR.')
  expect(number.result.overlaps).toEqual([{ path: '', base: '100', theirs: '1050', kept: 'mine' }])
  const part = mine('budget', (text) => text.delete(text.toJSON().indexOf('s of'), 1))
  expect(part.text).toBe('The costs of 100 EUR.')
  expect(part.result.overlaps).toEqual([
    { path: '', base: 'budgets', theirs: 'budget', mine: 'costs', kept: 'mine' },
  ])
})

it('[STRM-115] removes the content of the stream with `fail`, and keeps the target', () => {
  const { result, text } = replaceWithStream(
    'It is 100 EUR.',
    '100 EUR',
    ['170'],
    insertAfter('10', '5'),
    'fail',
  )
  expect(text).toBe('It is 1050 EUR.')
  expect(result.overlaps).toEqual([{ path: '', base: '100', theirs: '1050', kept: 'theirs' }])
})

const vocabulary = ['100', '1,000.50', 'ship', 'won’t', 'a', 'naïve', '漢字', 'well-known', '👍🏽']
const words = (random: Random, count: number): string =>
  Array.from({ length: count }, () => random.pick(vocabulary) + random.pick([' ', ' ', '. ', ''])).join('')

it(`[STRM-114] makes no word that no side wrote (seed ${seed})`, () => {
  let overlapping = 0
  for (let round = 0; round < times(600, 6_000); round++) {
    const random = new Random(seed + round)
    const [before, target, after] = [
      words(random, 3),
      `${words(random, 1 + random.below(4))}$`,
      words(random, 3),
    ]
    const content = before + target + after
    const pieces = Array.from({ length: 1 + random.below(3) }, () => words(random, 1 + random.below(2)))
    const policy = random.pick(['report', 'keepMine', 'fail'] as const)
    const change = (text: Y.Text): void => {
      const at = random.below(text.length)
      const isStreamed = ownerAt(text, at) === streamed || ownerAt(text, at - 1) === streamed
      // A user who writes inside the content of the stream writes a word of its own.
      if (isStreamed) return
      if (random.once(3)) text.delete(at, 1)
      else text.insert(at, random.pick(['x', '7', ' ', 'y z']))
    }
    const { result, text, theirs } = replaceWithStream(content, target, pieces, change, policy)
    const mine = before + pieces.join('') + after
    const known = [content, theirs, mine].map((each) => wordTexts(each))
    const unknown = [...wordTexts(text)].filter((word) => !known.some((list) => list.has(word)))
    const message = JSON.stringify({ round, content, target, theirs, mine, text, policy })
    expect(unknown, message).toEqual([])
    if (result.overlaps !== undefined) overlapping += 1
    if (result.overlaps !== undefined && policy === 'fail') expect(text, message).toBe(theirs)
  }
  expect(overlapping).toBeGreaterThan(20)
})

function ownerAt(text: Y.Text, index: number): number | undefined {
  let at = 0
  for (let item = text._start; item !== null; item = item.right) {
    if (item.deleted || !item.countable) continue
    at += item.length
    if (index < at) return item.id.client
  }
  return undefined
}
