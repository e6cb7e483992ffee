import * as fc from 'fast-check'
import { assert, property } from 'fast-check'
import { expect, it } from 'vitest'
import { rejectedMoves } from '../../../../src/core/directory/documents/folder-moves.ts'

const depthMax = 5

/** Depth of every folder; null if the path upwards does not reach the top. */
function depths(parents: ReadonlyMap<string, string>): ReadonlyMap<string, number | null> {
  return new Map(
    [...parents.keys()].map((id) => {
      let depth = 0
      for (let at: string | undefined = id; at !== undefined && at !== 'root'; at = parents.get(at)) {
        depth += 1
        if (depth > parents.size) return [id, null]
      }
      return [id, depth]
    }),
  )
}

const isSound = (parents: ReadonlyMap<string, string>): boolean =>
  [...depths(parents).values()].every((depth) => depth !== null && depth <= depthMax)

const withMoves = (parents: ReadonlyMap<string, string>, moves: Iterable<readonly [string, string]>) =>
  new Map([...parents, ...moves])

/** Each folder is in `root` or in a folder with a smaller number, within the maximum depth. */
const trees = fc.array(fc.nat(), { minLength: 1, maxLength: 14 }).map((picks) => {
  const parents = new Map<string, string>()
  for (const [index, pick] of picks.entries()) {
    const wanted = pick % (index + 1)
    parents.set(`${index}`, wanted === index ? 'root' : `${wanted}`)
    if (!isSound(parents)) parents.set(`${index}`, 'root')
  }
  return parents
})

const cases = trees.chain((parents) => {
  const ids = [...parents.keys()]
  const move = fc.tuple(fc.constantFrom(...ids), fc.constantFrom('root', ...ids))
  const moves = fc.uniqueArray(move, { selector: ([id]) => id, maxLength: ids.length })
  return fc.record({
    parents: fc.constant(parents),
    moves,
    other: fc.shuffledSubarray(ids, { minLength: ids.length }),
  })
})

it('[FOLD-7] [FOLD-8] [FOLD-9] after the accepted moves, the tree is valid and the same for any order of moves; if all moves are possible, all are accepted', () => {
  assert(
    property(cases, ({ parents, moves, other }) => {
      const refused = rejectedMoves(parents, new Map(moves), depthMax)
      expect(
        isSound(
          withMoves(
            parents,
            moves.filter(([id]) => !refused.has(id)),
          ),
        ),
      ).toBe(true)
      if (isSound(withMoves(parents, moves))) expect(refused.size).toBe(0)
      const shuffled = moves.toSorted(([a], [b]) => other.indexOf(a) - other.indexOf(b))
      const tree = new Map([...parents].toSorted(([a], [b]) => other.indexOf(a) - other.indexOf(b)))
      expect(rejectedMoves(tree, new Map(shuffled), depthMax)).toEqual(refused)
    }),
    { numRuns: process.env.WEFT_TEST_LONG === '1' ? 20_000 : 2_000 },
  )
})
