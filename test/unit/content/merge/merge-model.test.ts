import { isDeepStrictEqual } from 'node:util'
import { expect, it } from 'vitest'
import { wordTexts } from '../../../../src/core/content/merge/words.ts'
import { Random } from '../../../support/data/random-doc.ts'
import { times } from '../../../support/time/full-run.ts'
import { array, key, type Merged, map, mergeThree, text, xml } from './merge-support.ts'

const vocabulary = [
  'Monday|Tuesday|ship|shipping|won’t|naïve|Zürich|e\u0301tude|well-known|a|the',
  '100|1,000.50|12:30|2024-05-01|$170|250|99%|https://example.com/a?b=1|ada@example.com',
  '👩‍👩‍👧|👍🏽|🇩🇪|漢字|東京|ก็',
].flatMap((list) => list.split('|'))
const separators = [' ', ' ', ' ', ', ', '. ', '\n']

const randomWords = (next: Random, length: number): string =>
  Array.from({ length }, () => next.pick(vocabulary) + next.pick(separators)).join('')

/** Splits a text into words and the separators between them. */
const tokens = (content: string): string[] => content.match(/[^ ,.\n]+(?:[.,][^ ,.\n]+)*|[ ,.\n]/g) ?? []

/** Returns a text with some words changed, added or removed. */
function edited(next: Random, content: string, count = 1 + next.below(3)): string {
  const parts = tokens(content)
  for (let edits = count; edits > 0; edits--) {
    const at = next.below(parts.length + 1)
    const change = next.below(5)
    if (change === 0) parts.splice(at, 0, randomWords(next, 1 + next.below(2)))
    else if (change === 1) parts.splice(at, 1 + next.below(5))
    else if (change === 2) parts.splice(at, 1, next.pick(vocabulary))
    else if (change === 3) {
      // A change of letters inside a word.
      const word = Array.from(parts[at] ?? '')
      word.splice(next.below(word.length + 1), next.below(2), next.pick(['x', '7', 's', '\u0301']))
      parts.splice(at, 1, word.join(''))
    } else parts.push(next.pick(['\n', ' ']) + randomWords(next, 1))
  }
  return parts.join('')
}

const policies = ['report', 'keepTheirs', 'keepMine'] as const

/** Checks that each word is a word of a version. */
function expectKnownWords(versions: readonly string[], result: string): void {
  const plainWords = (content: string): ReadonlySet<string> => new Set(content.match(/[A-Za-z0-9]+/g))
  for (const wordsOf of [wordTexts, plainWords]) {
    const known = versions.map(wordsOf)
    const unknown = [...wordsOf(result)].filter((word) => !known.some((words) => words.has(word)))
    expect(unknown, JSON.stringify({ versions, result })).toEqual([])
  }
}

/**
 * A three-way merge by words, of one change of each side; null if they are not at least one unchanged word apart, or if
 * the place of a change is not certain.
 */
function plainMerge(base: string, theirs: string, mine: string): string | null {
  const from = tokens(base)
  const [x, y] = [changedRange(from, tokens(theirs)), changedRange(from, tokens(mine))]
  if (x === null || y === null || (x.end + 2 >= y.start && y.end + 2 >= x.start)) return null
  const [first, second] = x.start < y.start ? [x, y] : [y, x]
  return [
    ...from.slice(0, first.start),
    ...first.words,
    ...from.slice(first.end, second.start),
    ...second.words,
    ...from.slice(second.end),
  ].join('')
}

interface ChangedRange {
  readonly start: number
  readonly end: number
  readonly words: readonly string[]
}

/** Returns the changed range; null if several ranges have the same effect. */
function changedRange(from: readonly string[], to: readonly string[]): ChangedRange | null {
  const most = Math.min(from.length, to.length)
  let [start, tail] = [0, 0]
  while (start < most && from[start] === to[start]) start += 1
  while (tail < most && from.at(-1 - tail) === to.at(-1 - tail)) tail += 1
  if (start + tail > most) return null
  return { start, end: from.length - tail, words: to.slice(start, to.length - tail) }
}

/** The random cases are in parts, each of which is one test. */
const parts = times([0], [0, 1, 2, 3, 4, 5, 6, 7])

function count(part: number, runs: number, title: string, run: (next: Random) => Merged): void {
  let [overlapping, lost] = [0, 0]
  for (let seed = 1; seed <= runs; seed++) {
    const merged = run(new Random(part * 1_000_000 + seed))
    if (merged.overlaps.length > 0) overlapping += 1
    if (!merged.changed) lost += 1
    merged.doc.destroy()
  }
  const share = (part: number): string => `${((100 * part) / runs).toFixed(1)} %`
  console.info(`${title}: ${runs} merges, ${share(overlapping)} with overlaps, ${share(lost)} without effect`)
}

it.each(parts)('[MERGE-1] makes no word and no number that no side wrote, in texts (part %i)', (part) => {
  let plain = 0
  count(part, times(1_000, 5_000), 'text', (next) => {
    const base = randomWords(next, 1 + next.below(12))
    const isSingle = next.once(2)
    const edits = isSingle ? 1 : undefined
    const [theirs, mine] = [edited(next, base, edits), edited(next, base, edits)]
    const policy = next.pick(policies)
    const merged = mergeThree(text(base), text(theirs), text(mine), policy)
    expectKnownWords([base, theirs, mine], merged.data as string)
    const expected = isSingle ? plainMerge(base, theirs, mine) : null
    if (expected !== null) {
      plain += 1
      expect(merged.data, JSON.stringify({ base, theirs, mine })).toBe(expected)
      expect(merged.overlaps).toEqual([])
    }
    expect(merged.changed, JSON.stringify({ base, theirs, mine })).toBe(merged.data !== theirs)
    return merged
  })
  expect(plain).toBeGreaterThan(20)
})

it.each(parts)('[MERGE-1] makes no word and no number that no side wrote, in XML (part %i)', (part) => {
  count(part, times(400, 2_500), 'XML', (next) => {
    const isList = next.once(2)
    const length = isList ? 2 : 1 + next.below(4)
    const paragraphs = Array.from({ length }, () => randomWords(next, 1 + next.below(6)))
    const toXml = (list: readonly string[]): string => {
      const blocks = list
        .map((content) => `<paragraph>${content.replaceAll('\n', ' ').trim()}</paragraph>`)
        .map((block) => block.replace('<paragraph></paragraph>', '<paragraph/>'))
      if (!isList || list.length === 0) return blocks.join('')
      return `<bulletList>${blocks.map((block) => `<listItem>${block}</listItem>`).join('')}</bulletList>`
    }
    const change = (): string[] =>
      paragraphs.flatMap((content) => {
        if (next.once(isList ? 2 : 7)) return []
        if (next.once(7)) return [content, randomWords(next, 2)]
        return [next.once(3) ? edited(next, content) : content]
      })
    const [base, theirs, mine] = [paragraphs, change(), change()].map((list) => toXml(list)) as [
      string,
      string,
      string,
    ]
    const merged = mergeThree(xml(base), xml(theirs), xml(mine), next.pick(policies))
    const plainText = (content: string): string => content.replaceAll(/<[^>]*>/g, ' ')
    expectKnownWords([base, theirs, mine].map(plainText), plainText(merged.data as string))
    expect(merged.data).not.toMatch(/<(bulletList|listItem)\/>/)
    expect(merged.changed, JSON.stringify({ base, theirs, mine })).toBe(merged.data !== theirs)
    return merged
  })
})

it.each(parts)('[MERGE-1] has only values that a side wrote, in JSON (part %i)', (part) => {
  count(part, times(1_000, 5_000), 'JSON', (next) => {
    const record = (id: number): Record<string, unknown> => ({ id, a: next.below(4), b: [next.below(3)] })
    const base: Record<string, unknown> = {
      n: next.below(5),
      o: { x: 1, y: { z: next.below(3) } },
      l: Array.from({ length: next.below(5) }, (_, id) => record(id)),
      p: [1, 2, 3],
    }
    let scalar = 10
    const change = (): Record<string, unknown> => {
      const copy = structuredClone(base)
      for (let edits = 1 + next.below(3); edits > 0; edits--) {
        const list = copy.l as Record<string, unknown>[]
        const place = next.below(7)
        if (place === 0) copy.n = ++scalar
        else if (place === 1) copy.o = { ...(copy.o as object), x: ++scalar }
        else if (place === 2) copy.o = { ...(copy.o as object), [next.pick(['k', 'm'])]: ++scalar }
        else if (place === 3) list.push({ id: ++scalar })
        else if (place === 4) list.splice(next.below(list.length + 1), 1)
        else if (place === 5 && list.length > 0) list[next.below(list.length)]!.a = ++scalar
        else copy.p = [...(copy.p as number[]), ++scalar]
      }
      return copy
    }
    const [theirs, mine] = [change(), change()]
    const merged = mergeThree(map(base), map(theirs), map(mine), next.pick(policies))
    const known = new Set([base, theirs, mine].flatMap(scalarsIn))
    expect(scalarsIn(merged.data).filter((value) => !known.has(value))).toEqual([])
    if (merged.overlaps.length === 0) {
      const all = new Set(scalarsIn(merged.data))
      for (const added of [theirs, mine].flatMap(scalarsIn))
        if ((added as number) > 10) expect(all).toContain(added)
    }
    const ids = ((merged.data as typeof base).l as { id: number }[]).map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(merged.changed).toBe(!isDeepStrictEqual(merged.data, theirs))
    if (next.once(5)) expectErasedOrOverlap(base, theirs, next.pick(Object.keys(base)))
    return merged
  })
})

type Item = Record<string, number>

/** Returns a list of records with some items changed, added, removed or moved. */
function editedItems(next: Random, list: readonly Item[], newId: () => number): readonly Item[] {
  const copy = structuredClone(list) as Item[]
  for (let edits = 1 + next.below(3); edits > 0; edits--) {
    const at = next.below(copy.length + 1)
    const item = copy[at]
    const change = next.below(4)
    if (change === 0 || item === undefined) copy.splice(at, 0, { id: newId() })
    else if (change === 1) copy.splice(at, 1)
    else if (change === 2) item[next.pick(['a', 'b'])] = newId()
    else copy.splice(next.below(copy.length), 0, ...copy.splice(at, 1))
  }
  return copy
}

it.each(parts)('[MERGE-5] has each item once, also if both sides move items (part %i)', (part) => {
  count(part, times(300, 5_000), 'lists', (next) => {
    let last = 10
    const base: readonly Item[] = Array.from({ length: 2 + next.below(4) }, (_, id) => ({ id, a: 0, b: 0 }))
    // Both sides can add an item with the same id.
    const newId = () => (next.once(8) ? 10 : ++last)
    const [theirs, mine] = [editedItems(next, base, newId), editedItems(next, base, newId)]
    const isUnique = (list: readonly Item[]): boolean =>
      new Set(list.map(({ id }) => id)).size === list.length
    if (!isUnique(theirs) || !isUnique(mine)) return mergeThree(text(''), text('a'), text('b'))
    const isNested = next.once(2)
    const of = (list: readonly Item[]) => (isNested ? map({ list }) : array(list))
    const merged = mergeThree(of(base), of(theirs), of(mine), next.pick(policies))
    const result = (isNested ? (merged.data as { list: Item[] }).list : merged.data) as Item[]
    const seen = JSON.stringify({ base, theirs, mine, result, overlaps: merged.overlaps })
    expect(isUnique(result), seen).toBe(true)
    for (const { id } of [...base, ...theirs, ...mine]) {
      const [b, t, m, r] = [base, theirs, mine, result].map((list) => list.find((item) => item.id === id))
      if (t !== undefined && m !== undefined) expect(r, seen).toBeDefined()
      if (merged.overlaps.length > 0) continue
      if (b !== undefined && (t === undefined || m === undefined)) expect(r, seen).toBeUndefined()
      else
        for (const name of ['a', 'b'])
          expect(r?.[name], seen).toBe(t?.[name] === b?.[name] ? m?.[name] : t?.[name])
    }
    return merged
  })
})

/** Checks that the removal of a member has an effect, unless others have changed the member. */
function expectErasedOrOverlap(base: object, theirs: object, name: string): void {
  const edits = [{ patch: [{ op: 'remove', path: `/${name}` }] }]
  const { data, overlaps, doc } = mergeThree(map(base), map(theirs), { contentKey: key, edits, merged: true })
  expect(overlaps.length > 0, JSON.stringify({ base, theirs, name })).toBe(name in (data as object))
  doc.destroy()
}

const scalarsIn = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(scalarsIn) : [value]
