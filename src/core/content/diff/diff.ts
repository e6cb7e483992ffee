import { commonEnd, commonStart } from './common-ends.ts'
import { type DiffBudget, markChanges } from './myers.ts'

/**
 * One difference: the range of `a` from aStart to aEnd becomes the range of `b` from bStart to bEnd. Ends are
 * exclusive.
 */
export interface Hunk {
  readonly aStart: number
  readonly aEnd: number
  readonly bStart: number
  readonly bEnd: number
}

export const shifted = ({ aStart, aEnd, bStart, bEnd }: Hunk, a: number, b = a): Hunk => ({
  aStart: aStart + a,
  aEnd: aEnd + a,
  bStart: bStart + b,
  bEnd: bEnd + b,
})

/** Yields the positions of what stays: in the first sequence, which has the length `aLength`, and in the second one. */
export function* keptPositions(hunks: readonly Hunk[], aLength: number): Generator<[number, number]> {
  let [a, b] = [0, 0]
  for (const { aStart, aEnd, bEnd } of hunks) {
    while (a < aStart) yield [a++, b++]
    ;[a, b] = [aEnd, bEnd]
  }
  while (a < aLength) yield [a++, b++]
}

/**
 * Returns the differences between two sequences of token numbers. The differences are in order and never
 * adjacent. Tokens are small whole numbers, which are equal if and only if their texts are equal. Skips equal
 * tokens at both ends, marks tokens that only one side has as changed, and spends at most the remaining
 * `budget` on the other tokens. A part that exceeds the budget becomes one replaced range.
 */
export function diffTokens(a: Int32Array, b: Int32Array, budget: DiffBudget): Hunk[] {
  const start = commonStart(a, b)
  const end = commonEnd(a, b, start)
  const middleA = a.subarray(start, a.length - end)
  const middleB = b.subarray(start, b.length - end)
  budget.steps -= middleA.length + middleB.length
  if (middleA.length + middleB.length === 0) return []
  const replaced = [{ aStart: start, aEnd: a.length - end, bStart: start, bEnd: b.length - end }]
  if (middleA.length === 0 || middleB.length === 0) return replaced
  const changedA = new Uint8Array(middleA.length)
  const changedB = new Uint8Array(middleB.length)
  const keptA = sharedPositions(middleA, middleB, changedA)
  if (keptA.length === 0) return replaced
  const keptB = sharedPositions(middleB, middleA, changedB)
  const sideA = {
    tokens: keptA.map((position) => middleA[position] as number),
    changed: new Uint8Array(keptA.length),
  }
  const sideB = {
    tokens: keptB.map((position) => middleB[position] as number),
    changed: new Uint8Array(keptB.length),
  }
  markChanges(sideA, sideB, budget)
  for (let index = 0; index < keptA.length; index++)
    changedA[keptA[index] as number] = sideA.changed[index] as number
  for (let index = 0; index < keptB.length; index++)
    changedB[keptB[index] as number] = sideB.changed[index] as number
  return hunksOf(changedA, changedB, start)
}

/** Returns the positions of the tokens that `other` also has. Marks all other tokens in `changed`. */
function sharedPositions(tokens: Int32Array, other: Int32Array, changed: Uint8Array): Int32Array {
  const has = membership(other)
  const positions = new Int32Array(tokens.length)
  let count = 0
  for (let index = 0; index < tokens.length; index++) {
    if (has(tokens[index] as number)) positions[count++] = index
    else changed[index] = 1
  }
  return positions.subarray(0, count)
}

/**
 * Minimum number of tokens for which membership is tested with a table. From this number on, a table is much
 * faster than a set.
 */
const tableLengthMin = 4_096
/**
 * Maximum number of tokens for which membership is tested by a scan. Up to this number, a scan is faster than
 * building a set.
 */
const scanLengthMax = 24

function membership(tokens: Int32Array): (token: number) => boolean {
  if (tokens.length <= scanLengthMax) return (token) => tokens.includes(token)
  if (tokens.length < tableLengthMin) {
    const set = new Set(tokens)
    return (token) => set.has(token)
  }
  const table = new Uint8Array(tokens.reduce((most, token) => Math.max(most, token), 0) + 1)
  for (const token of tokens) table[token] = 1
  return (token) => table[token] === 1
}

function hunksOf(changedA: Uint8Array, changedB: Uint8Array, offset: number): Hunk[] {
  const hunks: Hunk[] = []
  let [a, b] = [0, 0]
  while (a < changedA.length || b < changedB.length) {
    const [aStart, bStart] = [a, b]
    while (changedA[a] === 1) a += 1
    while (changedB[b] === 1) b += 1
    if (a > aStart || b > bStart) {
      hunks.push({ aStart: aStart + offset, aEnd: a + offset, bStart: bStart + offset, bEnd: b + offset })
    }
    a += 1
    b += 1
  }
  return hunks
}
