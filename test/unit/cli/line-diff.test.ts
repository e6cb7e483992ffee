import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { lineDiff } from '../../../src/cli/doc/line-diff.ts'

const text = fc.array(fc.constantFrom('a', 'b', 'c', 'd', ''), { maxLength: 60 })

/** Applies a difference to the text before. */
function patched(before: readonly string[], diff: readonly string[]): readonly string[] {
  const after: string[] = []
  let at = 0
  for (const line of diff) {
    const [, start] = /^@@ -(\d+) /.exec(line) ?? []
    if (start !== undefined) {
      after.push(...before.slice(at, Number(start) - 1))
      at = Number(start) - 1
      continue
    }
    if (line[0] !== '+') expect(before[at++]).toBe(line.slice(1))
    if (line[0] !== '-') after.push(line.slice(1))
  }
  return [...after, ...before.slice(at)]
}

it('[CMD-2] returns a difference that turns the first text into the second', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      expect(patched(before, lineDiff(before, after))).toEqual(after)
    }),
  )
})

it('[CMD-2] shows three unchanged lines around a change, and joins changes that are close to each other', () => {
  const before = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`)
  const after = before.with(9, 'ten').with(12, 'thirteen').with(25, 'more')
  expect(lineDiff(before, after).filter((line) => !line.startsWith(' '))).toEqual([
    '@@ -7 +7 @@',
    '-line 10',
    '+ten',
    '-line 13',
    '+thirteen',
    '@@ -23 +23 @@',
    '-line 26',
    '+more',
  ])
  expect(lineDiff(before, before)).toEqual([])
})
