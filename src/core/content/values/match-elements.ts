import { memoized } from '../../base/maps.ts'
import { diffTokens, type Hunk } from '../diff/diff.ts'
import type { DiffBudget } from '../diff/myers.ts'
import { isObject, type Json, kindOfJson } from '../json/json.ts'
import { kindOfShared, type StoredValue } from '../stored/shared-values.ts'

/** Keys that identify an item. If an item has several of these keys, the first key in this list is used. */
const idKeys = ['id', '_id', 'key', 'uid', 'uuid'] as const
/** Keys that usually identify an item, although their value may change. */
const nameKeys = ['name', 'slug', 'title'] as const

type Pair = readonly [a: number, b: number]

/**
 * Pairs the stored elements of a replaced range with target elements, in order. A paired element is changed
 * in place to its target. Elements with the same id (or, without ids, the same name) are paired first. The
 * elements between them are paired by position. Elements with different ids are never paired, nor are plain
 * values.
 */
export function matchElements(
  elements: readonly StoredValue[],
  target: readonly Json[],
  hunk: Hunk,
  budget: DiffBudget,
): Pair[] {
  const { aStart, aEnd, bStart, bEnd } = hunk
  const shared = elements.slice(aStart, aEnd).some((element) => kindOfShared(element) !== null)
  if (!shared || bStart === bEnd) return []
  const numbers = new Map<string, number>()
  const a = elements.slice(aStart, aEnd).map((element) => idOf(element.json))
  const b = target.slice(bStart, bEnd).map(idOf)
  const fits = (x: number, y: number): boolean =>
    kindOfShared(elements[aStart + x] as StoredValue) === kindOfJson(target[bStart + y] as Json)
  const pairs: Pair[] = []
  const byPosition = ({ aStart: x, aEnd: xEnd, bStart: y, bEnd: yEnd }: Hunk): void => {
    for (; x < xEnd && y < yEnd; x++, y++) {
      const differ = a[x]?.fixed === true && b[y]?.fixed === true
      if (!differ && fits(x, y)) pairs.push([aStart + x, bStart + y])
    }
  }
  const hunks = diffTokens(numbered(a, numbers, -1), numbered(b, numbers, -1 - a.length), budget)
  let [x, y] = [0, 0]
  for (const gap of [...hunks, { aStart: a.length, aEnd: a.length, bStart: b.length, bEnd: b.length }]) {
    for (; x < gap.aStart; x++, y++) if (fits(x, y)) pairs.push([aStart + x, bStart + y])
    byPosition(gap)
    ;[x, y] = [gap.aEnd, gap.bEnd]
  }
  return pairs
}

interface Id {
  readonly token: string
  /** False if the token was made from a name, which may change. */
  readonly fixed: boolean
}

function idOf(json: Json): Id | null {
  if (!isObject(json)) return null
  for (const key of [...idKeys, ...nameKeys]) {
    const id = Object.hasOwn(json, key) ? json[key] : undefined
    if (typeof id === 'string' || typeof id === 'number') {
      return { token: `${key} ${typeof id} ${id}`, fixed: idKeys.some((known) => known === key) }
    }
  }
  return null
}

/** Returns a token for the id of a plain value; null if it has none. Equal ids have equal tokens. */
export const idTokenOf = (value: unknown): string | null =>
  typeof value === 'object' && value !== null ? (idOf(value as Json)?.token ?? null) : null

/**
 * Returns a number for each id. Equal ids have equal numbers. An element without an id gets a number that no
 * other element has.
 */
function numbered(ids: readonly (Id | null)[], numbers: Map<string, number>, unlike: number): Int32Array {
  return Int32Array.from(ids, (id, index) => {
    if (id === null) return unlike - index
    return memoized(numbers, id.token, () => numbers.size)
  })
}
