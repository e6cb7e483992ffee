import { expect, it } from 'vitest'
import * as Y from 'yjs'
import type { OverlapPolicy } from '../../../../src/core/content/merge/overlap.ts'
import { wordTexts } from '../../../../src/core/content/merge/words.ts'
import type { ReplacementResult } from '../../../../src/core/content/replacement-result.ts'
import { findStreamPlace } from '../../../../src/core/content/stream/stream-place.ts'
import { stepInCopy, writeStreamed } from '../../../../src/core/content/stream/stream-writing.ts'
import { RangeIndex } from '../../../../src/core/update/range-index.ts'
import { Random } from '../../../support/data/random-doc.ts'
import { seed } from '../../../support/data/seed.ts'
import { times } from '../../../support/time/full-run.ts'

interface Streamed {
  readonly result: ReplacementResult
  readonly text: string
  /** The text without the content of the stream. */
  readonly theirs: string
  /** The text with spaces in place of the content of the stream and of the target. */
  readonly rest: string
  /** The content of the stream that the result has. */
  readonly streamed: string
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
  const targets = RangeIndex.of(replaced.ranges)
  const theirs = textBy(doc, (client) => client !== streamed)
  const rest = textBy(doc, (client, clock) => client !== streamed && !targets.has(client, clock), ' ')
  const result = stepInCopy(doc, writer, { is: 'replace', replaced, onOverlap, isRepeated: false })
  const text = doc.getText('content').toJSON()
  // The end of a stream is repeated if the server has crashed before it has stored the result.
  stepInCopy(doc, writer, { is: 'replace', replaced, onOverlap, isRepeated: true })
  expect(doc.getText('content').toJSON()).toBe(text)
  return {
    result,
    text,
    theirs,
    rest,
    streamed: textBy(doc, (client) => client === streamed),
  }
}

function textBy(doc: Y.Doc, isBy: (client: number, clock: number) => boolean, instead = ''): string {
  let text = ''
  for (let item = doc.getText('content')._start; item !== null; item = item.right)
    for (let at = 0; !item.deleted && item.content instanceof Y.ContentString && at < item.length; at++)
      text += isBy(item.id.client, item.id.clock + at) ? item.content.str[at] : instead
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
    'The budgets are 1005 170 EUR.',
    [{ base: '100', theirs: '1005', mine: '170' }],
  ],
  [
    'a number that was deleted and typed again',
    '100',
    '170',
    (text, piece) => {
      if (piece === 0) text.delete(text.toJSON().indexOf('100'), 3)
      if (piece === 0) text.insert(text.toJSON().indexOf('170'), '1005')
    },
    'The budgets are 1005 170 EUR.',
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
    'The budgets 1050 E1UR were 170.',
    [
      { base: '100', theirs: '1050' },
      { base: 'EUR', theirs: 'E1UR' },
    ],
  ],
  [
    'a word of which the target is a part',
    'budget',
    'cost',
    insertAfter('bud', 'x'),
    'The budxgets cost are 100 EUR.',
    [{ base: 'budgets', theirs: 'budxgets', mine: 'costs' }],
  ],
  [
    'a word without a deleted letter',
    'budget',
    'cost',
    (text) => text.delete(text.toJSON().indexOf('s are'), 1),
    'The budget cost are 100 EUR.',
    [{ base: 'budgets', theirs: 'budget', mine: 'costs' }],
  ],
])('[STRM-114] keeps %s at an overlap', (_name, find, piece, change, expected, overlaps) => {
  const { result, text } = replaceWithStream(sentence, find, [piece], change)
  expect(text).toBe(expected)
  expect(result.overlaps).toEqual(overlaps.map((overlap) => ({ path: '', ...overlap, kept: 'theirs' })))
})

it('[STRM-114] adds nothing to a word of which the stream replaces a part', () => {
  const { result, text } = replaceWithStream(sentence, 'dge', ['n', 'k'], insertAfter('100', '5'))
  expect({ result, text }).toEqual({
    result: { changed: true, insertions: 0, deletions: 3 },
    text: 'The bunkts are 1005 EUR.',
  })
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
  expect(number.result.overlaps).toEqual([
    { path: '', base: '100', theirs: '1050', mine: 'cost', kept: 'mine' },
  ])
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
      `${words(random, 1 + random.below(4))}|`,
      words(random, 3),
    ]
    const content = before + target + after
    const streamedWords = Array.from({ length: 1 + random.below(3) }, () =>
      words(random, 1 + random.below(2)),
    )
    const policy = random.pick(['report', 'keepMine', 'fail'] as const)
    const change = (text: Y.Text): void => {
      const at = random.below(text.length)
      const isStreamed = ownerAt(text, at) === streamed || ownerAt(text, at - 1) === streamed
      // A user who writes inside the content of the stream, or next to it, writes a word of its own.
      if (isStreamed) return
      if (random.once(3)) text.delete(at, 1)
      else text.insert(at, random.pick(['x', '7', ' ', 'y z']))
    }
    // The first change is earlier than the content of the stream.
    const pieces = ['', ...streamedWords]
    const {
      result,
      text,
      theirs,
      rest,
      streamed: present,
    } = replaceWithStream(content, target, pieces, change, policy)
    const mine = before + pieces.join('') + after
    // A target that is a part of a word cuts this word.
    const sides = [content, theirs, mine, pieces.join(''), before, after, rest]
    // A word with a hyphen is several words directly next to a script without spaces.
    const known = [...sides, ...sides.map((side) => side.replaceAll(/\p{Script=Han}/gu, ' '))].map(wordTexts)
    const unknown = [...wordTexts(text)].filter((word) => !known.some((list) => list.has(word)))
    const message = JSON.stringify({ round, content, target, theirs, mine, text, policy })
    expect(unknown, message).toEqual([])
    const isRejected = policy === 'fail' && result.overlaps !== undefined
    expect(present, message).toBe(isRejected ? '' : pieces.join(''))
    if (isRejected) expect(text, message).toBe(theirs)
    if (policy === 'report')
      for (const letter of ['x', 'y', 'z'])
        expect(text.split(letter).length, message).toBeGreaterThanOrEqual(theirs.split(letter).length)
    if (result.overlaps !== undefined) overlapping += 1
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
