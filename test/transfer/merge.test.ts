import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { mapName } from '../../src/capabilities/transfer/name-mapping.ts'
import { updateKeyOf } from '../../src/capabilities/transfer/sources/y-leveldb.ts'
import {
  contentSum,
  DocumentRejectedError,
  isSameContent,
  mergeStored,
} from '../../src/core/rooms/log/merge-stored.ts'
import { allOf, docOf, updatesOf } from '../support/data/import-sources.ts'
import { editRandomly, Random } from '../support/data/random-doc.ts'
import { hostileUpdates } from '../support/faults/hostile-shapes.ts'

describe('updates of one document', () => {
  it('[MOVE-1] merges the updates of a document into one update with the same content, in any order and even if some are repeated', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), (seed) => {
        const random = new Random(seed)
        const updates = updatesOf((doc) => {
          for (let edit = 0; edit < 30; edit++) editRandomly(doc, random)
        })
        const shuffled = [...updates, ...updates.slice(0, 5)].sort(() => random.below(3) - 1)
        const { bytes, content } = mergeStored(shuffled)
        expect(allOf(docOf([bytes]))).toEqual(allOf(docOf(updates)))
        expect(isSameContent(contentSum(bytes), content)).toBe(true)
      }),
      { numRuns: 30 },
    )
  })

  it('[MOVE-1] updates have a different content sum if one deletion or one character is missing', () => {
    const typed = updatesOf((doc) => doc.getText('t').insert(0, 'some text'))
    const deleted = updatesOf((doc) => doc.getText('t').delete(2, 1), typed)
    const more = updatesOf((doc) => doc.getText('t').insert(0, '!'), typed)
    const sum = (updates: readonly Uint8Array[]) => mergeStored(updates).content
    expect(isSameContent(sum(typed), sum(typed))).toBe(true)
    expect(isSameContent(sum(typed), sum([...typed, ...deleted]))).toBe(false)
    expect(isSameContent(sum(typed), sum([...typed, ...more]))).toBe(false)
  })

  it('[MOVE-7] rejects updates that the server would not serve', () => {
    const deep = updatesOf((doc) => {
      let map = doc.getMap('m')
      for (let depth = 0; depth < 250; depth++) map = map.set('k', new Y.Map())
    })
    for (const updates of [deep, [Uint8Array.of(0)]])
      expect(() => mergeStored(updates)).toThrow(DocumentRejectedError)
  })

  it('[MOVE-11] rejects updates that take Yjs too long, and reads updates in any order in the same time', () => {
    for (const shape of ['rightOriginsBackwards', 'concurrentPrepends', 'entriesOfOneKey'] as const)
      expect(() => mergeStored(hostileUpdates[shape](10_000)), shape).toThrow(/needs more than \d+ steps/)
    for (const shape of ['missingClients', 'pendingUpdates'] as const)
      expect(() => mergeStored(hostileUpdates[shape](50_000)), shape).toThrow('updates that are missing')
    const typed = updatesOf((doc) => {
      for (let at = 0; at < 50_000; at++) doc.getText('t').insert(at, 'a')
    })
    expect(mergeStored(typed.toReversed()).bytes).toEqual(mergeStored(typed).bytes)
  })

  it('[MOVE-11] reads deletions in any order, overlapping or not, in about the same time', () => {
    // Yjs shifts or visits all structs for each range that is not in order.
    for (const shape of ['reversedDeletions', 'deletionsFromBothEnds', 'overlappingDeletions'] as const)
      expect(() => mergeStored(hostileUpdates[shape](40_000)), shape).not.toThrow()
  })

  it('[MOVE-11] reads updates that depend on each other in a circle', () => {
    const [one, other] = [new Y.Doc(), new Y.Doc()]
    for (let round = 0; round < 3; round++) {
      one.getText('t').insert(round, 'a')
      Y.applyUpdate(other, Y.encodeStateAsUpdate(one))
      other.getText('t').insert(0, 'b')
      Y.applyUpdate(one, Y.encodeStateAsUpdate(other))
    }
    const only = (doc: Y.Doc) => {
      const others = Y.decodeStateVector(Y.encodeStateVector(one))
      others.delete(doc.clientID)
      return Y.encodeStateAsUpdate(one, Y.encodeStateVector(others))
    }
    const { bytes } = mergeStored([only(one), only(other)])
    expect(docOf([bytes]).getText('t').toJSON()).toBe(one.getText('t').toJSON())
  })
})

it('[MOVE-4] treats a name that consists of three ids as an address, and any other name as a document id or as invalid', () => {
  const naming = { map: new Map(), organizationId: 'old', editorId: 'e' }
  const flat = (documentId: string) => ({ path: { organizationId: 'old', documentId, editorId: 'e' } })
  const path = { organizationId: 'ä/b', documentId: '100%', editorId: 'm' }
  expect(mapName('%C3%A4%2Fb/100%25/m', naming)).toEqual({ path })
  for (const name of ['a', 'a/b', 'a/b/c/d', 'a//c', '%zz/b/c', 'a/../c', '/'])
    expect(mapName(name, naming)).toEqual(flat(name))
  for (const name of ['', '.', '..', 'a\u0000b', 'x'.repeat(513), '\ud800'])
    expect(mapName(name, naming)).toHaveProperty('problem')
  expect(mapName('a', { ...naming, organizationId: null })).toHaveProperty('problem')
})

it('[MOVE-1] ignores a key of y-leveldb that does not belong to an update', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 24 }), (tail) => {
      const name = updateKeyOf(Buffer.concat([Buffer.from([0, 2, 118, 49, 0]), tail]))
      if (name !== null) expect(tail.length).toBe(1 + (tail[0] ?? 0) + 8 + 5)
    }),
  )
  const update = Buffer.from(
    '\u0000\u0002v1\u0000\u0001d\u0000\u0006update\u0001\u0000\u0000\u0000\u0007',
    'latin1',
  )
  expect(updateKeyOf(update)).toBe('d')
  expect(updateKeyOf(Buffer.from(update.toString('latin1').replace('update', 'others'), 'latin1'))).toBeNull()
  expect(
    updateKeyOf(Buffer.from('\u0000\u0002v1\u0000\u0001d\u0000\u0004meta\u0000\u0006update', 'latin1')),
  ).toBeNull()
})
