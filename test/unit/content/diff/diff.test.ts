import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { diffTokens, type Hunk } from '../../../../src/core/content/diff/diff.ts'
import { docWith, replaceText, runs, textOf, unitsOf } from '../support.ts'

const tokens = (kinds: number, maxLength: number): fc.Arbitrary<Int32Array> =>
  fc.array(fc.nat(kinds), { maxLength }).map((values) => Int32Array.from(values))

function applied(a: Int32Array, b: Int32Array, hunks: readonly Hunk[]): number[] {
  const result: number[] = []
  let at = 0
  for (const { aStart, aEnd, bStart, bEnd } of hunks) {
    expect(aStart).toBeGreaterThanOrEqual(at)
    result.push(...a.subarray(at, aStart), ...b.subarray(bStart, bEnd))
    at = aEnd
  }
  return [...result, ...a.subarray(at)]
}

/** Length of the longest common subsequence, by the textbook table. */
function longestCommon(a: Int32Array, b: Int32Array): number {
  let above = new Int32Array(b.length + 1)
  for (const token of a) {
    const row = new Int32Array(b.length + 1)
    for (let y = 1; y <= b.length; y++) {
      row[y] = token === b[y - 1] ? (above[y - 1] ?? 0) + 1 : Math.max(above[y] ?? 0, row[y - 1] ?? 0)
    }
    above = row
  }
  return above[b.length] ?? 0
}

test('[R7] computes a correct difference, and the smallest one that the budget allows', () => {
  fc.assert(
    fc.property(tokens(4, 30), tokens(4, 30), (a, b) => {
      const hunks = diffTokens(a, b, { steps: 1_000_000 })
      expect(applied(a, b, hunks)).toEqual([...b])
      const deleted = hunks.reduce((sum, { aStart, aEnd }) => sum + aEnd - aStart, 0)
      expect(a.length - deleted).toBe(longestCommon(a, b))
    }),
    runs,
  )
})

test('[R7] with a budget that is too small, computes a correct but coarser difference', () => {
  fc.assert(
    fc.property(tokens(3, 60), tokens(3, 60), fc.nat(300), (a, b, steps) => {
      expect(applied(a, b, diffTokens(a, b, { steps }))).toEqual([...b])
    }),
    runs,
  )
})

const scattered = (seed: number): Int32Array =>
  Int32Array.from({ length: 3_000 }, (_, index) => Math.imul(index + seed, 2_654_435_761) >>> 28)

test('[R7] computes a correct difference even if the search for a split point is too expensive', () => {
  const [a, b] = [scattered(1), scattered(77_777)]
  const budget = { steps: 100_000_000 }
  expect(applied(a, b, diffTokens(a, b, budget))).toEqual([...b])
})

test('[R7] spends at most its budget plus one round of steps', () => {
  const a = Int32Array.from({ length: 50_000 }, (_, index) => Math.imul(index, 2_654_435_761) >>> 30)
  const b = Int32Array.from({ length: 50_000 }, (_, index) => Math.imul(index + 7, 1_597_334_677) >>> 30)
  const budget = { steps: 300_000 }
  diffTokens(a, b, budget)
  expect(budget.steps).toBeLessThanOrEqual(0)
  expect(budget.steps).toBeGreaterThan(-200_000)
})

test('[R7] replaces large and hostile texts, with a coarse difference if necessary', () => {
  const size = 300_000
  const mixed = (seed: number, letters: string): string => {
    let state = seed
    return Array.from({ length: size }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return letters.charAt((state >>> 8) % letters.length)
    }).join('')
  }
  const pairs: readonly [string, string][] = [
    [mixed(1, 'abc'), mixed(2, 'xyz')],
    ['a'.repeat(size), 'a'.repeat(size - 3)],
    ['ab'.repeat(size / 2), 'ba'.repeat(size / 2)],
    ['a b '.repeat(size / 4), 'b a '.repeat(size / 4)],
    [mixed(3, 'ab \n'), mixed(4, 'ab \n')],
    [mixed(5, '一二三'), mixed(6, '一二三')],
    [`e${'\u0301'.repeat(size)}`, `e${'\u0302\u0301'.repeat(size / 2)}`],
    ['👩‍👩‍👧'.repeat(size / 8), '👨‍👩‍👧'.repeat(size / 8)],
  ]
  for (const [source, target] of pairs) {
    const doc = docWith(source)
    replaceText(doc, target)
    expect(textOf(doc) === target).toBe(true)
  }
})

test('[R7] when there are too many separate edits, joins some of them, but still keeps at least half of the content', () => {
  const source = 'a line that stays as it was\nold\n'.repeat(15_000)
  const doc = docWith(source)
  const target = source.replaceAll('old', 'new')
  const before = source.length
  const { deletions } = replaceText(doc, target)
  expect(textOf(doc) === target).toBe(true)
  expect(deletions).toBeLessThan(before / 2)
  expect(unitsOf(doc).length).toBe(before)
})
