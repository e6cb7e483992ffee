import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { joinUpdates } from '../../../src/core/update/join-updates.ts'
import { readUpdate } from '../../../src/core/update/read-update.ts'
import { randomHistory } from '../../support/data/random-doc.ts'

const docOf = (updates: readonly Uint8Array[]): Y.Doc => {
  const doc = new Y.Doc()
  for (const update of updates) Y.applyUpdate(doc, update)
  return doc
}
const stateOf = (doc: Y.Doc): Uint8Array => Y.encodeStateAsUpdate(doc)
const deletes = (update: Uint8Array): number => readUpdate(update).deletes

/** Updates of several writers, who insert words at the end or at the start and delete nothing. */
function typed(turns: readonly (readonly [writer: number, at: 'start' | 'end'])[]): Uint8Array[] {
  const updates: Uint8Array[] = []
  const docs = [1, 2, 3].map((clientID) => Object.assign(new Y.Doc(), { clientID }))
  for (const [writer, at] of turns) {
    const doc = docs[writer] as Y.Doc
    const before = Y.encodeStateVector(doc)
    const text = doc.getText('t')
    text.insert(at === 'start' ? 0 : text.length, 'né😀')
    const update = Y.encodeStateAsUpdate(doc, before)
    updates.push(update)
    for (const other of docs) Y.applyUpdate(other, update)
  }
  return updates
}

const turns = fc.array(fc.tuple(fc.nat(2), fc.constantFrom('start' as const, 'end' as const)), {
  minLength: 2,
  maxLength: 30,
})

it('[UPD-22] joins a state and the updates that follow it by copying their bytes, and gets the same state as Yjs', () => {
  fc.assert(
    fc.property(turns, fc.nat(29), (written, cut) => {
      const updates = typed(written)
      const snapshot = stateOf(docOf(updates.slice(0, cut)))
      const joined = joinUpdates([snapshot, ...updates.slice(cut)])
      const whole = docOf(updates)
      expect(joined?.clocks).toEqual(Y.decodeStateVector(Y.encodeStateVector(whole)))
      expect(stateOf(docOf([joined?.bytes ?? snapshot]))).toEqual(stateOf(whole))
    }),
  )
})

it('[UPD-22] joins any history to the same state, but does not join updates that contain deletions', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 2, max: 40 }), (seed, steps) => {
      const { updates } = randomHistory(seed, steps)
      const cut = Math.floor(updates.length / 2)
      const whole = docOf(updates)
      const first = stateOf(docOf(updates.slice(0, cut)))
      const joined = joinUpdates([first, ...updates.slice(cut)])
      if (updates.slice(cut).some((update) => deletes(update) > 0)) expect(joined).toBeNull()
      if (joined === null) return
      const again = docOf([joined.bytes])
      expect(again.store.pendingStructs).toBeNull()
      expect(Y.encodeStateVector(again)).toEqual(Y.encodeStateVector(whole))
      expect(Y.encodeStateAsUpdate(again, Y.encodeStateVector(whole))).toEqual(
        Y.encodeStateAsUpdate(whole, Y.encodeStateVector(whole)),
      )
    }),
    { numRuns: 300 },
  )
})

it('[UPD-22] finds where the structs of a state end and its deletions start', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e6 }), (seed) => {
      const doc = docOf(randomHistory(seed, 30).updates)
      const state = stateOf(doc)
      const joined = joinUpdates([state])
      expect(joined?.bytes).toBe(state)
      expect(Buffer.concat([Uint8Array.of(0), state.subarray(joined?.structsEnd)])).toEqual(
        Buffer.from(Y.encodeStateAsUpdate(doc, Y.encodeStateVector(doc))),
      )
    }),
  )
})

it('[UPD-22] returns null for updates that do not continue each other', () => {
  const updates = typed([
    [0, 'end'],
    [1, 'end'],
    [0, 'end'],
  ])
  const [first, second, third] = updates as [Uint8Array, Uint8Array, Uint8Array]
  expect(joinUpdates(updates)).not.toBeNull()
  expect(joinUpdates([first, second, second])).toBeNull()
  expect(joinUpdates([second, third])).toBeNull()
  expect(joinUpdates([first, Uint8Array.of(1, 2, 3)])).toBeNull()
})
