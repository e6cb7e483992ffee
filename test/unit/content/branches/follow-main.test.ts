import { expect, it } from 'vitest'
import * as Y from 'yjs'
import type { BranchOverlap } from '../../../../src/core/content/branches/branch-overlaps.ts'
import { followMain } from '../../../../src/core/content/branches/follow-main.ts'
import { readRoot } from '../../../../src/core/content/read-document.ts'
import { checkChange, type RootChange } from '../../../../src/core/content/root-change.ts'
import { Random } from '../../../support/data/random-doc.ts'
import { times } from '../../../support/time/full-run.ts'
import { key, map, text, xml } from '../merge/merge-support.ts'

let lastClient = 20_000

const docOf = (...states: readonly Uint8Array[]): Y.Doc => {
  const doc = new Y.Doc()
  doc.clientID = ++lastClient
  for (const state of states) Y.applyUpdate(doc, state)
  return doc
}

/** Changes a document, and returns the update. */
function change(doc: Y.Doc, root: RootChange): Uint8Array {
  const before = Y.encodeStateVector(doc)
  checkChange(root).apply(doc)
  return Y.encodeStateAsUpdate(doc, before)
}

const dataOf = (doc: Y.Doc): unknown => readRoot(doc, key).data

interface Followed {
  readonly branch: unknown
  /** The content of the main editor after the branch is merged. */
  readonly merged: unknown
  readonly overlaps: readonly BranchOverlap[]
}

/** Lets a branch follow its main editor. `closed`: the branch does not know which state it has taken in before. */
function follow(base: RootChange, mine: RootChange, theirs: RootChange, how: 'open' | 'closed'): Followed {
  const main = docOf()
  change(main, base)
  const state = Y.encodeStateAsUpdate(main)
  const branch = docOf(state)
  change(branch, mine)
  const update = change(main, theirs)
  const changes =
    how === 'open'
      ? { base: state, updates: [update] }
      : { base: null, updates: [Y.encodeStateAsUpdate(main)] }
  const { branchOverlaps: overlaps = [] } = followMain(branch, Y.encodeStateAsUpdate(branch), changes)
  const after = Y.encodeStateVector(branch)
  followMain(branch, Y.encodeStateAsUpdate(branch), changes)
  expect(Y.encodeStateVector(branch)).toEqual(after)
  const merged = docOf(Y.encodeStateAsUpdate(main), Y.encodeStateAsUpdate(branch))
  return { branch: dataOf(branch), merged: dataOf(merged), overlaps }
}

const cases = ['open', 'closed'] as const

it.each(cases)('[MERGE-7] keeps the words of a branch that its editor has also changed (%s)', (how) => {
  const of = (day: string, budget: string): string => `Budget: ${budget} EUR. We ship on ${day}.`
  const { branch, merged, overlaps } = follow(
    text(of('Monday', '100')),
    text(of('Friday', '170')),
    text(`Hello! ${of('Tuesday', '250')}`),
    how,
  )
  expect(branch).toBe(`Hello! ${of('Friday', '170')}`)
  expect(merged).toBe(branch)
  expect(overlaps).toMatchObject([
    { path: '', theirs: '250', mine: '170' },
    { path: '', theirs: 'Tuesday', mine: 'Friday' },
  ])
})

it.each(cases)(
  '[MERGE-7] keeps a word that one side has deleted and the other one has changed (%s)',
  (how) => {
    const [base, edited, shorter] = ['a word is here', 'a words is here', 'a is here']
    const overlap = [{ base: expect.stringContaining('word ') }]
    const kept = follow(text(base), text(edited), text(shorter), how)
    expect(kept).toMatchObject({ branch: edited, overlaps: overlap })
    const deleted = follow(text(base), text(shorter), text(edited), how)
    expect(deleted).toMatchObject({ branch: shorter, overlaps: overlap })
    expect([kept.merged, deleted.merged]).toEqual([kept.branch, deleted.branch])
  },
)

it.each(cases)('[MERGE-12] removes a list of which each side has deleted an item (%s)', (how) => {
  const of = (...items: string[]) =>
    xml(`<p>x</p><ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`)
  const { branch, merged, overlaps } = follow(of('a', 'b'), of('a'), of('b'), how)
  expect([branch, merged, overlaps]).toEqual(['<p>x</p>', '<p>x</p>', []])
})

it.each(cases)('[MERGE-7] keeps an element that the editor has deleted (%s)', (how) => {
  const paragraph = (content: string): string => `<paragraph>${content}</paragraph>`
  const first = paragraph('First.')
  const { branch, merged, overlaps } = follow(
    xml(first + paragraph('The second one.')),
    xml(first + paragraph('The 2nd one.')),
    xml(first),
    how,
  )
  expect(branch).toBe(first + paragraph('The 2nd one.'))
  expect(merged).toBe(branch)
  expect(overlaps).toHaveLength(1)
})

it.each(cases)(
  '[MERGE-7] keeps values of a branch, and takes in those that it has not changed (%s)',
  (how) => {
    const { branch, overlaps } = follow(
      map({ a: 1, b: 1, c: 1 }),
      map({ a: 2, b: 1, d: 1 }),
      map({ a: 3, b: 3, c: 1 }),
      how,
    )
    expect(branch).toEqual({ a: 2, b: 3, d: 1 })
    expect(overlaps).toMatchObject([{ path: '/a', theirs: 3, mine: 2 }])
  },
)

const vocabulary = ['Monday', 'Tuesday', 'ship', 'shipping', '100', '250', 'well-known', 'a']
const wordsIn = (content: unknown): ReadonlySet<string> => new Set(String(content).match(/[A-Za-z0-9]+/g))

/** Returns a text with some words changed, added or removed, and some letters. */
function edited(next: Random, content: string): string {
  const words = content.split(' ')
  for (let edits = 1 + next.below(3); edits > 0; edits--) {
    const at = next.below(words.length + 1)
    const how = next.below(4)
    if (how === 0) words.splice(at, 0, next.pick(vocabulary))
    else if (how === 1) words.splice(at, 1)
    else if (how === 2) words.splice(at, 1, next.pick(vocabulary))
    else {
      const letters = (words[at] ?? '').split('')
      letters.splice(next.below(letters.length + 1), next.below(2), next.pick(['x', '7']))
      words.splice(at, 1, letters.join(''))
    }
  }
  return words.join(' ')
}

it.each(cases)('[MERGE-7] makes no word that no side wrote (%s)', (how) => {
  for (let seed = 1; seed <= times(100, 3_000); seed++) {
    const next = new Random(seed)
    const base = Array.from({ length: 1 + next.below(8) }, () => next.pick(vocabulary)).join(' ')
    const [mine, theirs] = [edited(next, base), edited(next, base)]
    const { branch, merged } = follow(text(base), text(mine), text(theirs), how)
    const known = new Set([base, mine, theirs].flatMap((content) => [...wordsIn(content)]))
    const unknown = [...wordsIn(branch)].filter((word) => !known.has(word))
    expect(unknown, JSON.stringify({ seed, base, mine, theirs, branch })).toEqual([])
    expect(merged).toBe(branch)
  }
})
