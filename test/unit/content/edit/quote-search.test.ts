import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { normalizeText } from '../../../../src/core/content/edit/targets/normalized-text.ts'
import {
  NormalizedFlows,
  type Pattern,
  type QuoteRanges,
  QuoteSearch,
  separator,
} from '../../../../src/core/content/edit/targets/quote-search.ts'
import { WorkLimit } from '../../../../src/core/content/edit/work-limit.ts'
import { Graphemes } from '../../../../src/core/content/text/graphemes.ts'
import { seed } from '../../../support/data/seed.ts'
import { times } from '../../../support/time/full-run.ts'

const settings = { numRuns: times(3_000, 100_000), seed }

/**
 * Characters that normalization changes or joins, and others: letters, marks, white space, Hangul, ideographs,
 * emoji sequences, the placeholders of inline elements and of unpaired surrogates.
 */
const characters = [
  ...'aabbeK;1 '.split(''),
  ...'\n\t\u00a0\u2000\u3000'.split(''),
  ...'\u0301\u0323\u0344\u0345é\u1ec7\u212a\u212b\u00c5\u037e'.split(''),
  ...'\u1100\u1161\u11a8\uac00\uac01漢\uf900\ufffc\ud800'.split(''),
  '😀',
  '\u{1f44d}\u{1f3fd}',
  '\u200d',
  '\u{1d165}',
  '\u{2f800}',
]

const simple = 'aaab1 \n'.split('')

const texts = (maxLength: number, of: readonly string[]): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...of), { maxLength }).map((parts) => parts.join(''))

const cases = fc
  .constantFrom(characters, simple)
  .chain((of) =>
    fc.tuple(
      fc.array(texts(20, of), { minLength: 1, maxLength: 4 }),
      texts(3, of),
      texts(4, of),
      texts(3, of),
      fc.boolean(),
      fc.nat(200),
    ),
  )

const normal = (text: string): string => normalizeText(text.toWellFormed()).text

const rangesOf = (matches: Iterable<QuoteRanges>): QuoteRanges[] => [...matches]

test(`[EDIT-20] finds the same places as a search in normalized text (seed ${seed})`, () => {
  fc.assert(
    fc.property(cases, ([parts, before, quote, after, acrossBlocks, repeated]) => {
      const flows = parts.map((text) => ({
        text: text.repeat(1 + (repeated % 3) * (repeated % 40)),
        pieces: [],
      }))
      const all = flows.map(({ text }) => text).join(acrossBlocks ? '\n' : separator)
      const quoted = normal(quote)
      // A part of the text, so that many patterns occur.
      const part = normal(all.slice(repeated % 30, (repeated % 30) + 1 + (repeated % 7)))
      const found: Pattern[] = [
        { text: normal(before) + quoted + normal(after), start: normal(before).length, end: 0 },
        { text: part, start: 0, end: 0 },
        { text: part + quoted, start: part.length, end: 0 },
      ].map((pattern, index) => ({
        ...pattern,
        end: index === 0 ? pattern.start + quoted.length : pattern.text.length,
      }))
      for (const pattern of found) {
        if (pattern.text === '' || pattern.start === pattern.end) continue
        const expected = new NormalizedFlows(flows, acrossBlocks ? '\n' : separator, new Graphemes())
        expect(rangesOf(new QuoteSearch(flows, acrossBlocks, new WorkLimit()).matches(pattern))).toEqual(
          rangesOf(expected.matches(pattern)),
        )
      }
    }),
    settings,
  )
})

test('[EDIT-20] finds the same places in long repetitive text, and far apart', () => {
  const flows = [
    { text: 'a'.repeat(3_000), pieces: [] },
    { text: 'ab '.repeat(1_000), pieces: [] },
    { text: `a${'- '.repeat(500)}ab ab${' \u0301'.repeat(500)}ab ab `.repeat(3), pieces: [] },
  ]
  for (const text of ['a'.repeat(1_500), 'ab '.repeat(400), `${'a'.repeat(40)}b`, 'ab ab', '- ab ab']) {
    for (const acrossBlocks of [false, true]) {
      const pattern = { text, start: 1, end: text.length - 1 }
      const expected = new NormalizedFlows(flows, acrossBlocks ? '\n' : separator, new Graphemes())
      expect(rangesOf(new QuoteSearch(flows, acrossBlocks, new WorkLimit()).matches(pattern))).toEqual(
        rangesOf(expected.matches(pattern)),
      )
    }
  }
})
