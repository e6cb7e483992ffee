import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { DocumentState } from '../../src/core/rooms/document/document-state.ts'
import { checkPlaces } from '../../src/core/update/check-places.ts'
import { struct } from '../../src/core/update/item-content.ts'
import { MalformedUpdateError } from '../../src/core/update/malformed.ts'
import { readUpdate, type UpdateListener } from '../../src/core/update/read-update.ts'
import { isPlain, type UpdateSummary } from '../../src/core/update/summary.ts'
import { Random, randomHistory } from '../support/data/random-doc.ts'
import { seed } from '../support/data/seed.ts'
import { mutate } from '../support/faults/mutations.ts'
import { times } from '../support/time/full-run.ts'

const cases = Number(process.env.WEFT_FUZZ_CASES ?? times(8_000, 20_000))

type Outcome = 'refused' | 'plain' | 'other'

/** Rejects references to subdocuments, because those of two documents cannot be compared. */
const listener: UpdateListener = {
  item: ({ kind }) => {
    if (kind === struct.doc) throw new MalformedUpdateError('a subdocument')
  },
}

/** Handles the bytes like a room, on a copy of the document. */
function take(bytes: Uint8Array, encoded: Uint8Array): Outcome {
  const state = DocumentState.fromBytes(encoded)
  let summary: UpdateSummary
  try {
    summary = readUpdate(bytes, listener)
    checkPlaces(bytes, state.doc)
  } catch {
    return 'refused'
  }
  const plain = isPlain(summary, state.clocks)
  if (plain) {
    state.advance(summary)
    state.applyPlain([{ bytes }])
  } else {
    const { added } = state.integrate(bytes)
    if (added !== null) state.advance(readUpdate(added))
  }
  expect(state.doc.store.pendingStructs).toBeNull()
  expect(state.doc.store.pendingDs).toBeNull()
  const again = DocumentState.fromBytes(state.encode())
  expect(again.clocks).toEqual(state.clocks)
  expect(again.doc.toJSON()).toEqual(state.doc.toJSON())
  return plain ? 'plain' : 'other'
}

describe('mutated updates', () => {
  it(`[UPD-9] either rejects a mutated update, or applies, encodes and reloads it (seed ${seed}, ${cases} cases)`, () => {
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
