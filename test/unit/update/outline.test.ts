import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { MalformedUpdateError } from '../../../src/core/update/malformed.ts'
import { readOutline } from '../../../src/core/update/outline.ts'
import { readUpdate } from '../../../src/core/update/read-update.ts'
import { randomHistory } from '../../support/data/random-doc.ts'
import { bytesOf, varString } from '../../support/faults/crafted-updates.ts'

/** The result of vetting the same bytes. */
function vetted(bytes: Uint8Array) {
  const { clients, structsEnd } = readUpdate(bytes)
  return { clients, structsEnd }
}

function stateOf(updates: readonly Uint8Array[], gc = true): Uint8Array {
  const doc = new Y.Doc({ gc })
  for (const update of updates) Y.applyUpdate(doc, update)
  return Y.encodeStateAsUpdate(doc)
}

const seeds = fc.integer({ min: 1, max: 1e6 })

it('[UPD-23] for any state and any difference, the outline has the same values as the complete check', () => {
  fc.assert(
    fc.property(seeds, fc.boolean(), (seed, gc) => {
      const { updates } = randomHistory(seed, 40)
      const state = stateOf(updates, gc)
      expect(readOutline(state)).toEqual(vetted(state))
      const later = Y.diffUpdate(state, Y.encodeStateVectorFromUpdate(stateOf(updates.slice(0, 20))))
      expect(readOutline(later)).toEqual(vetted(later))
    }),
    { numRuns: 300 },
  )
})

it('[UPD-23] for texts of any length, deep values and skipped parts, the outline has the same values as the complete check', () => {
  const doc = new Y.Doc()
  const text = doc.getText('t')
  for (const length of [1, 126, 127, 128, 129, 300])
    for (const letter of ['x', 'é', '😀']) text.insert(0, letter.repeat(length))
  text.format(2, 3, { bold: true })
  text.insertEmbed(1, { image: 'a' })
  doc.getMap('m').set('k', new Y.Map([['inner', Uint8Array.of(1, 200)]]))
  doc.getMap('m').set('sub', new Y.Doc({ guid: 'g' }))
  doc.getMap('m').delete('k')
  const state = Y.encodeStateAsUpdate(doc)
  text.insert(0, 'missing')
  const left = Y.encodeStateVector(doc)
  text.insert(0, 'last')
  const gap = Y.mergeUpdates([state, Y.encodeStateAsUpdate(doc, left)])
  for (const bytes of [state, gap]) expect(readOutline(bytes)).toEqual(vetted(bytes))
  expect(readOutline(gap).clients.some(({ skips }) => skips)).toBe(true)
})

it('[UPD-23] rejects truncated or extended bytes, and bytes that contain one client twice', () => {
  fc.assert(
    fc.property(seeds, fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), (seed, share) => {
      const state = stateOf(randomHistory(seed, 20).updates)
      const cut = state.subarray(0, Math.floor(state.length * share))
      expect(() => readOutline(cut)).toThrow(MalformedUpdateError)
      expect(() => readOutline(Buffer.concat([state, Uint8Array.of(0)]))).toThrow(MalformedUpdateError)
    }),
  )
  const gcOf7 = [1, 7, 0, 0, 5]
  expect(readOutline(Uint8Array.of(1, ...gcOf7, 0)).structsEnd).toBe(6)
  expect(() => readOutline(Uint8Array.of(2, ...gcOf7, ...gcOf7, 0))).toThrow('twice')
  expect(() => readOutline(Uint8Array.of(1, 0, 7, 0, 0))).toThrow('no structs')
  expect(() => readOutline(Uint8Array.of(1, 1, 7, 0, 0, 0, 0))).toThrow('empty')
  expect(() => readOutline(Uint8Array.of(255, 255, 255, 255, 15, ...gcOf7))).toThrow(MalformedUpdateError)
})

it('[UPD-23] does not parse JSON for an outline, because it was parsed when the update arrived', () => {
  const update = (json: string): Uint8Array => bytesOf(1, 1, 7, 0, 5, 1, varString('t'), varString(json), 0)
  expect(() => readUpdate(update('{'))).toThrow('not JSON')
  expect(readOutline(update('{'))).toEqual(vetted(update('1')))
})
