import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { readStatistics } from '../../../src/core/update/statistics.ts'
import { randomHistory } from '../../support/data/random-doc.ts'

/** The same counts from the objects of Yjs. */
function counted(updates: readonly Uint8Array[], gc: boolean) {
  const doc = new Y.Doc({ gc })
  for (const update of updates) Y.applyUpdate(doc, update)
  const structs = [...doc.store.clients.values()].flat()
  const deleted = structs.filter((struct) => struct.deleted)
  return {
    bytes: Y.encodeStateAsUpdate(doc),
    statistics: {
      structs: structs.length,
      tombstones: deleted.reduce((sum, { length }) => sum + length, 0),
      clients: doc.store.clients.size,
    },
  }
}

it('[CRDT-35] in any state, counts the structs, tombstones and clients of a Y.Doc', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1e6 }),
      fc.integer({ min: 0, max: 60 }),
      fc.boolean(),
      (seed, steps, gc) => {
        const { bytes, statistics } = counted(randomHistory(seed, steps).updates, gc)
        expect(readStatistics(bytes)).toEqual(statistics)
      },
    ),
    { numRuns: 200 },
  )
})

it('[CRDT-35] counts a deleted text by its UTF-16 code units, and each other deleted value as one', () => {
  const doc = new Y.Doc()
  doc.clientID = 1
  const text = doc.getText('t')
  text.insert(0, 'ab😀c')
  expect(readStatistics(Y.encodeStateAsUpdate(doc))).toEqual({ structs: 1, tombstones: 0, clients: 1 })
  text.delete(1, 3)
  expect(readStatistics(Y.encodeStateAsUpdate(doc))).toEqual({ structs: 3, tombstones: 3, clients: 1 })
  const map = doc.getMap('m')
  map.set('k', { deep: ['value', 'of', 'many'] })
  map.set('k', 'another')
  expect(readStatistics(Y.encodeStateAsUpdate(doc))).toMatchObject({ tombstones: 4, clients: 1 })
})
