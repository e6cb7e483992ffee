import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { DocumentState } from '../../src/core/rooms/document/document-state.ts'
import { checkPlaces } from '../../src/core/update/check-places.ts'
import { MalformedUpdateError } from '../../src/core/update/malformed.ts'
import { readUpdate } from '../../src/core/update/read-update.ts'
import { isEmpty, isPlain } from '../../src/core/update/summary.ts'
import { message } from '../support/clients/clients.ts'
import { Random } from '../support/data/random-doc.ts'
import { seed } from '../support/data/seed.ts'
import { asCase, hexOf } from '../support/faults/corpus.ts'
import { bytesOf, craftUpdate, varUint } from '../support/faults/crafted-updates.ts'
import { times } from '../support/time/full-run.ts'

const cases = Number(process.env.WEFT_FUZZ_CASES ?? times(2_000, 10_000))
const updatesPerHistory = 25

/** Handles an update like a room, with a log that accepts only what has passed. */
class Document {
  readonly log: Uint8Array[] = []
  /** All received updates, as frames. */
  readonly sent: string[] = []
  state = DocumentState.fromBytes(null)

  take(bytes: Uint8Array): 'refused' | 'plain' | 'parted' | 'broken' {
    this.sent.push(hexOf(message([0, 2], bytes)))
    let plain: boolean
    try {
      const summary = readUpdate(bytes)
      if (isEmpty(summary)) return 'refused'
      checkPlaces(bytes, this.state.doc)
      plain = isPlain(summary, this.state.clocks)
    } catch (error) {
      expect(error).toBeInstanceOf(MalformedUpdateError)
      return 'refused'
    }
    try {
      this.#apply(bytes, plain)
      return plain ? 'plain' : 'parted'
    } catch {
      this.#reload()
      return 'broken'
    }
  }

  /** The end of the test stores what the room would store. */
  #apply(bytes: Uint8Array, plain: boolean): void {
    const added = plain ? bytes : this.state.integrate(bytes).added
    if (added === null) return
    const summary = readUpdate(added)
    this.state.advance(summary)
    if (plain) this.state.applyPlain([{ bytes }])
    this.log.push(added)
  }

  #reload(): void {
    this.state = DocumentState.fromBytes(null)
    for (const bytes of this.log) {
      this.state.advance(readUpdate(bytes))
      this.state.applyPlain([{ bytes }])
    }
  }
}

function expectWhole(doc: Y.Doc, clocks: ReadonlyMap<number, number>): void {
  expect(doc.store.pendingStructs).toBeNull()
  expect(doc.store.pendingDs).toBeNull()
  expect(Y.decodeStateVector(Y.encodeStateVector(doc))).toEqual(clocks)
}

function loaded(updates: readonly Uint8Array[]): Y.Doc {
  const doc = new Y.Doc()
  doc.transact(() => {
    for (const update of updates) Y.applyUpdate(doc, update)
  })
  return doc
}

function deletionOfAll(clocks: ReadonlyMap<number, number>): Uint8Array {
  const ranges = [...clocks].map(([client, clock]) => [client, 1, 0, ...varUint(clock)])
  return bytesOf(0, ranges.length, ranges.flat())
}

describe('crafted updates', () => {
  it(`[UPD-10] loads, encodes and deletes crafted updates that were stored (seed ${seed}, ${cases} cases)`, () => {
    const outcomes = { refused: 0, plain: 0, parted: 0, broken: 0 }
    for (let round = 0; round < cases / updatesPerHistory; round++) {
      const random = new Random(seed + round)
      const document = new Document()
      try {
        for (let count = 0; count < updatesPerHistory; count++) {
          outcomes[document.take(craftUpdate(document.state.clocks, random))] += 1
          expectWhole(document.state.doc, document.state.clocks)
        }
        const { doc, clocks } = document.state
        expectWhole(loaded([Y.encodeStateAsUpdate(doc)]), clocks)
        expectWhole(loaded(document.log), clocks)
        const emptied = loaded(document.log)
        Y.applyUpdate(emptied, deletionOfAll(clocks))
        Y.applyUpdate(doc, deletionOfAll(clocks))
        for (const deleted of [doc, emptied]) expectWhole(loaded([Y.encodeStateAsUpdate(deleted)]), clocks)
      } catch (error) {
        throw new Error(asCase({ name: `seed ${seed + round}`, frames: document.sent, ends: 4400 }), {
          cause: error,
        })
      }
    }
    // Most updates must be accepted, so that the rules do not hide what this test searches.
    // An update whose random deletions are not in order is never plain.
    expect(outcomes.plain).toBeGreaterThan(cases / 6)
    expect(outcomes.parted).toBeGreaterThan(cases / 5)
    expect(outcomes.broken).toBeLessThan(cases / 5)
  }, 120_000)
})
