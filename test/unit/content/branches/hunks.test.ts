import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { BranchComparison } from '../../../../src/core/content/branches/branch-hunks.ts'
import { decideHunks } from '../../../../src/core/content/branches/decide-hunks.ts'
import { Random } from '../../../support/data/random-doc.ts'
import { seed } from '../../../support/data/seed.ts'
import { storedContent } from '../../../support/stores/stored-content.ts'

const rounds = 60

const stateOf = (doc: Y.Doc): Uint8Array => Y.encodeStateAsUpdate(doc)
function clone(doc: Y.Doc): Y.Doc {
  const copy = new Y.Doc()
  Y.applyUpdate(copy, stateOf(doc))
  return copy
}
const follow = (branch: Y.Doc, main: Y.Doc): void =>
  Y.applyUpdate(branch, Y.encodeStateAsUpdate(main, Y.encodeStateVector(branch)))

type BranchEdit = (doc: Y.Doc, random: Random) => void

const elementOf = (random: Random): Y.XmlElement => {
  const element = new Y.XmlElement(random.pick(['p', 'h1']))
  element.setAttribute('class', random.pick(['a', 'b']))
  element.insert(0, [new Y.XmlText(random.pick(['some text', 'other']))])
  return element
}
const newValue = (random: Random): unknown =>
  random.pick([
    () => 1,
    () => 'two',
    () => ({ three: [3] }),
    () => new Y.Map([['k', 1]]),
    () => Y.Array.from([1, 'x']),
  ])()

/** Edits of all shared types. They split no surrogate pairs, because Yjs does not keep their halves. */
const edits: readonly BranchEdit[] = [
  (doc, random) => {
    const text = doc.getText('text')
    text.insert(random.below(text.length + 1), random.pick(['new', ' ', 'x', '漢字']))
  },
  (doc, random) => {
    const text = doc.getText('text')
    const from = random.below(text.length)
    text.delete(from, Math.min(text.length - from, 1 + random.below(6)))
  },
  (doc, random) => {
    const text = doc.getText('text')
    const from = random.below(text.length)
    text.format(from, random.below(text.length - from), { bold: random.pick([true, null]) })
  },
  (doc, random) => doc.getText('text').insertEmbed(random.below(5), { image: random.below(3) }),
  (doc, random) => void doc.getMap('map').set(random.pick(['a', 'b', 'c']), newValue(random)),
  (doc, random) => doc.getMap('map').delete(random.pick(['a', 'b', 'c'])),
  (doc, random) => {
    const nested = doc.getMap('map').get('a')
    if (nested instanceof Y.Map) nested.set(random.pick(['k', 'l']), random.below(9))
  },
  (doc, random) => {
    const array = doc.getArray('array')
    array.insert(random.below(array.length + 1), [newValue(random), random.below(9)])
  },
  (doc, random) => {
    const array = doc.getArray('array')
    if (array.length > 0) array.delete(random.below(array.length), 1)
  },
  (doc, random) => {
    const fragment = doc.getXmlFragment('xml')
    fragment.insert(random.below(fragment.length + 1), [elementOf(random)])
  },
  (doc, random) => {
    const fragment = doc.getXmlFragment('xml')
    if (fragment.length > 0) fragment.delete(random.below(fragment.length), 1)
  },
  (doc, random) => {
    const first = doc.getXmlFragment('xml').firstChild
    if (!(first instanceof Y.XmlElement)) return
    first.setAttribute('class', random.pick(['a', 'b', 'c']))
    const text = first.firstChild
    if (text instanceof Y.XmlText) text.insert(random.below(text.length + 1), 'in')
  },
]

const editRandomly = (doc: Y.Doc, random: Random): void => doc.transact(() => random.pick(edits)(doc, random))

interface Pair {
  readonly main: Y.Doc
  readonly branch: Y.Doc
}

/** An editor with some content, and a branch of it. Both were edited, and the branch follows. */
function randomPair(random: Random): Pair {
  const main = new Y.Doc()
  main.getText('text').insert(0, 'one two three four five six seven eight nine ten')
  main.getText('text').format(4, 9, { bold: true })
  for (let edits = random.below(20); edits > 0; edits -= 1) editRandomly(main, random)
  const branch = clone(main)
  for (let edits = 1 + random.below(10); edits > 0; edits -= 1) editRandomly(branch, random)
  for (let edits = random.below(4); edits > 0; edits -= 1) editRandomly(main, random)
  follow(branch, main)
  return { main, branch }
}

function hunkIdsOf({ main, branch }: Pair): readonly string[] {
  const comparison = new BranchComparison(stateOf(main), stateOf(branch))
  comparison.destroy()
  return comparison.hunks.map(({ hunkId }) => hunkId)
}

/** Accepts or rejects hunks in the way of the service. */
function decide({ main, branch }: Pair, is: 'accept' | 'reject', hunkIds: readonly string[]): void {
  if (is === 'reject') {
    decideHunks(branch, stateOf(branch), { is, other: stateOf(main), hunkIds })
    return
  }
  const { hunks } = decideHunks(main, stateOf(main), { is, other: stateOf(branch), hunkIds })
  follow(branch, main)
  branch.transact((transaction) => {
    for (const { replaceable } of hunks.decided)
      for (const { client, clock, length } of replaceable)
        for (let at = clock; at < clock + length; at += 1)
          Y.getItemCleanStart(transaction, Y.createID(client, at)).delete(transaction)
  })
}

function shuffled<T>(values: readonly T[], random: Random): readonly T[] {
  const left = [...values]
  return values.map(() => left.splice(random.below(left.length), 1)[0] as T)
}

it(`[BRANCH-20] hunks that are decided in any order give the same content (seed ${seed})`, () => {
  for (let round = 0; round < rounds; round += 1) {
    const random = new Random(seed + round)
    const pair = randomPair(random)
    const ids = hunkIdsOf(pair)
    const decisions = new Map(ids.map((id) => [id, random.pick(['accept', 'reject'] as const)]))
    const results = [0, 1, 2].map(() => {
      const copy = { main: clone(pair.main), branch: clone(pair.branch) }
      for (const id of shuffled(ids, random)) decide(copy, decisions.get(id) ?? 'accept', [id])
      const where = `round ${round} of seed ${seed}`
      expect(hunkIdsOf(copy), where).toEqual([])
      expect(storedContent(copy.branch), where).toEqual(storedContent(copy.main))
      return storedContent(copy.main)
    })
    expect(results[1], `round ${round} of seed ${seed}`).toEqual(results[0])
    expect(results[2], `round ${round} of seed ${seed}`).toEqual(results[0])
  }
})

it(`[BRANCH-20] accepting all hunks gives the content of the branch, and rejecting all that of the editor (seed ${seed})`, () => {
  for (let round = 0; round < rounds; round += 1) {
    const pair = randomPair(new Random(seed + round))
    const accepted = { main: clone(pair.main), branch: clone(pair.branch) }
    decide(accepted, 'accept', hunkIdsOf(pair))
    expect(storedContent(accepted.main), `round ${round} of seed ${seed}`).toEqual(storedContent(pair.branch))
    const rejected = { main: clone(pair.main), branch: clone(pair.branch) }
    decide(rejected, 'reject', hunkIdsOf(pair))
    expect(storedContent(rejected.branch), `round ${round} of seed ${seed}`).toEqual(storedContent(pair.main))
  }
})
