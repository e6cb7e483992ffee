import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { RoomState } from '../../src/rooms/state.ts'
import { checkNesting } from '../../src/update/nesting.ts'
import { readUpdate } from '../../src/update/read.ts'
import { isPlain, type UpdateSummary } from '../../src/update/summary.ts'
import { Random, randomHistory } from '../support/random-doc.ts'

const seed = Number(process.env.WEFT_FUZZ_SEED ?? Date.now() % 1_000_000)
const cases = Number(process.env.WEFT_FUZZ_CASES ?? 20_000)

/** Flips, cuts, splices and overwrites, one to four of them. */
function mutate(update: Uint8Array, other: Uint8Array, random: Random): Uint8Array {
  let bytes = [...update]
  for (let count = 1 + random.below(4); count > 0; count--) {
    const at = random.below(bytes.length)
    const kind = random.below(5)
    if (kind === 0) bytes[at] = (bytes[at] as number) ^ (1 << random.below(8))
    else if (kind === 1) bytes[at] = random.pick([0, 1, 127, 128, 255, random.below(256)])
    else if (kind === 2) bytes = bytes.slice(0, at + 1)
    else if (kind === 3) bytes.splice(at, 0, ...other.slice(0, random.below(other.length + 1)))
    else
      bytes.splice(
        at,
        random.below(4),
        ...num(random.pick([0, 2 ** 31 - 1, 2 ** 32, 2 ** 40, random.below(300)])),
      )
  }
  return Uint8Array.from(bytes)
}

function num(value: number): number[] {
  return value > 127 ? [(value % 128) | 128, ...num(Math.floor(value / 128))] : [value]
}

type Outcome = 'refused' | 'plain' | 'other'

/** What a room does with the bytes, on a copy of the document. */
function take(bytes: Uint8Array, encoded: Uint8Array): Outcome {
  const state = RoomState.fromBytes(encoded)
  let summary: UpdateSummary
  try {
    summary = readUpdate(bytes, { allowSubdocuments: false })
    if (summary.types > 0) checkNesting(bytes, state.doc)
  } catch {
    return 'refused'
  }
  const plain = isPlain(summary, state.clocks)
  if (plain) {
    state.advance(summary)
    state.applyPlain([{ bytes }])
  } else {
    const { added } = state.integrate(bytes)
    if (added !== null) state.advance(readUpdate(added, { allowSubdocuments: false }))
  }
  expect(state.doc.store.pendingStructs).toBeNull()
  expect(state.doc.store.pendingDs).toBeNull()
  const again = RoomState.fromBytes(state.encode())
  expect(again.clocks).toEqual(state.clocks)
  expect(again.doc.toJSON()).toEqual(state.doc.toJSON())
  return plain ? 'plain' : 'other'
}

describe('mutated updates', () => {
  it(`[UPD-9] what is not refused can be applied, encoded and loaded again (seed ${seed}, ${cases} cases)`, () => {
    const random = new Random(seed)
    const outcomes: Record<Outcome, number> = { refused: 0, plain: 0, other: 0 }
    for (let round = 0; round < cases / 200; round++) {
      const { updates, doc } = randomHistory(seed + round, 30)
      const state = Y.encodeStateAsUpdate(doc)
      const next = randomHistory(seed + round, 34).updates.slice(updates.length)
      const pool = [...updates.slice(-5), ...next, state]
      for (let index = 0; index < 200; index++) {
        const bytes = mutate(random.pick(pool), random.pick(pool), random)
        try {
          outcomes[take(bytes, state)] += 1
        } catch (error) {
          throw new Error(`seed ${seed}, round ${round}: ${Buffer.from(bytes).toString('hex')}`, {
            cause: error,
          })
        }
      }
    }
    expect(outcomes.refused).toBeGreaterThan(0)
    expect(outcomes.plain).toBeGreaterThan(0)
    expect(outcomes.other).toBeGreaterThan(0)
  }, 120_000)
})
