import { array, assert, constantFrom, property } from 'fast-check'
import { expect, it } from 'vitest'
import { collapseUnchanged, type DiffPart } from '../../../src/console/documents/diff/diff-part.ts'
import { diffTexts } from '../../../src/console/documents/diff/text-diff.ts'

const without = (parts: readonly DiffPart[], kind: DiffPart['kind']): string =>
  parts
    .filter((part) => part.kind !== kind)
    .map(({ text }) => text)
    .join('')

it('[CON-24] describes a difference by words', () => {
  expect(diffTexts('one two three', 'one 2 three')).toEqual([
    { kind: 'same', text: 'one ' },
    { kind: 'removed', text: 'two' },
    { kind: 'added', text: '2' },
    { kind: 'same', text: ' three' },
  ])
  expect(diffTexts('{\n  "a": 1\n}', '{\n  "a": 2\n}')).toEqual([
    { kind: 'same', text: '{\n  "a": ' },
    { kind: 'removed', text: '1' },
    { kind: 'added', text: '2' },
    { kind: 'same', text: '\n}' },
  ])
  expect(diffTexts('', '')).toEqual([])
})

it('[CON-24] a difference without its added parts is the old text, and without its removed parts the new text', () => {
  const text = array(constantFrom('a', 'b', ' ', '\n', '😀', '\ud800', 'é', '-')).map((all) => all.join(''))
  assert(
    property(text, text, (before, after) => {
      const parts = diffTexts(before, after)
      expect(without(parts, 'added')).toBe(before)
      expect(without(parts, 'removed')).toBe(after)
    }),
  )
})

it('[CON-24] compares texts with many differences in less detail', () => {
  const words = (count: number, prefix: string) =>
    Array.from({ length: count }, (_, index) => `${prefix}${index}`).join(' ')
  const [before, after] = [words(20_000, 'a'), words(20_000, 'b')]
  expect(diffTexts(before, after)).toEqual([
    { kind: 'removed', text: before },
    { kind: 'added', text: after },
  ])
  const long = words(50_000, 'x')
  expect(diffTexts(`${long} y ${long}`, `${long} z ${long}`).length).toBe(4)
})

it('[CON-24] omits long unchanged passages, and states their length', () => {
  const parts = collapseUnchanged(
    diffTexts(`${'x '.repeat(1000)}old${' y'.repeat(1000)}`, `${'x '.repeat(1000)}new${' y'.repeat(1000)}`),
  )
  expect(parts.map(({ kind, omitted }) => [kind, omitted])).toEqual([
    ['same', 1880],
    ['same', undefined],
    ['removed', undefined],
    ['added', undefined],
    ['same', undefined],
    ['same', 1880],
  ])
})
