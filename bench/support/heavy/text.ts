import { seededRandom } from '../random.ts'
import { contentKey, type HeavyCase, loaded } from './case.ts'

interface TextRewrite {
  readonly name: string
  readonly before: string
  readonly after: string
}

/** Returns cases that rewrite texts of about `size` UTF-16 units. */
export const textCases = (size: number): HeavyCase[] =>
  rewrites(size).map(({ name, before, after }) => ({
    type: 'text',
    name,
    before: () => loaded((author) => author.getText(contentKey).insert(0, before)),
    data: after,
  }))

/**
 * Returns pairs of texts whose difference is expensive to compute. Each text has about `size` UTF-16 units.
 */
function rewrites(size: number): TextRewrite[] {
  const random = seededRandom(3)
  const letters = (alphabet: string): string =>
    Array.from({ length: size }, () => alphabet.charAt(random(alphabet.length))).join('')
  const filled = (pattern: string): string => pattern.repeat(Math.ceil(size / pattern.length))
  const wordList = (seed: number, separator: string): string =>
    Array.from({ length: size / 8 }, (_, index) =>
      ((index * seed) % 99_991).toString(36).padStart(7, 'x'),
    ).join(separator)
  const few = (separator: string): string =>
    Array.from({ length: size / 4 }, () => ['foo', 'bar', 'baz', 'qux'][random(4)]).join(separator)
  const scattered = filled('abcdefghi jklmnop qrs tuv\n')
  const ideographs = letters('一二三四五六七八')
  const bytes = String.fromCharCode(...Array.from({ length: 256 }, (_, code) => code))
  return [
    { name: 'all different, one line', before: letters('abcdefgh'), after: letters('stuvwxyz') },
    { name: 'all different, many lines', before: wordList(7_919, '\n'), after: wordList(6_007, '\n') },
    { name: 'same words in another order', before: wordList(7_919, ' '), after: wordList(3_571, ' ') },
    { name: 'four words at random', before: few(' '), after: few(' ') },
    { name: 'four lines at random', before: few('\n'), after: few('\n') },
    { name: 'one repeated character', before: filled('a'), after: `${filled('a')}aaa` },
    { name: 'repeated characters, moved', before: `${filled('a')}b`, after: `b${filled('a')}` },
    { name: '"ab" against "ba"', before: filled('ab'), after: filled('ba') },
    { name: '"a b " against "b a "', before: filled('a b '), after: filled('b  a ') },
    { name: 'two signs at random', before: letters('+-'), after: letters('+-') },
    { name: 'one character in 26 changed', before: scattered, after: scattered.replaceAll('g', 'G') },
    {
      name: 'one line in two changed',
      before: filled('a line that stays\nold line\n'),
      after: filled('a line that stays\nnew line\n'),
    },
    {
      name: 'halves exchanged',
      before: few(' ') + wordList(7_919, ' '),
      after: wordList(7_919, ' ') + few(' '),
    },
    { name: 'ideographs at random', before: letters('一二三四五六七八'), after: letters('一二三四五六七八') },
    {
      name: 'emoji families against others',
      before: filled('👨‍👩‍👧‍👦👩🏽‍🚀'),
      after: filled('👩🏽‍🚀🇫🇷👨‍👩‍👧‍👦'),
    },
    { name: 'flags without end', before: filled('🇫🇷🇩🇪'), after: filled('🇩🇪🇫🇷🇮🇹') },
    {
      name: 'one letter under many marks',
      before: `e${filled('\u0301')}`,
      after: `e${filled('\u0301\u0302')}`,
    },
    {
      name: 'every word changed',
      before: wordList(7_919, ' '),
      after: wordList(7_919, ' ').replace(/\w+/g, '$&y'),
    },
    {
      name: 'every second word changed',
      before: wordList(7_919, ' '),
      after: wordList(7_919, ' ').replace(/(\w+ )\w+/g, '$1other'),
    },
    {
      name: 'ideographs, one in ten changed',
      before: ideographs,
      after: ideographs.replace(/(.{9})./g, '$1十'),
    },
    { name: 'bytes at random', before: letters(bytes), after: letters(bytes) },
    { name: 'emptied', before: letters('abc \n'), after: '' },
  ]
}
