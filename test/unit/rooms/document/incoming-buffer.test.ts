import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { IncomingBuffer } from '../../../../src/core/rooms/document/incoming-buffer.ts'
import { readUpdate } from '../../../../src/core/update/read-update.ts'
import { advance, isPlain, isSimple } from '../../../../src/core/update/summary.ts'
import { randomHistory } from '../../../support/data/random-doc.ts'
import { seed } from '../../../support/data/seed.ts'

/** Lets at most `limit` simple updates wait. Other updates are applied as they are. */
function applied(
  updates: readonly Uint8Array[],
  limit: number,
): { doc: Y.Doc; waited: number; most: number } {
  const doc = new Y.Doc()
  const waiting = new IncomingBuffer()
  const clocks = new Map<number, number>()
  const seen = { waited: 0, most: 0 }
  const apply = (): void => {
    Y.applyUpdate(doc, waiting.joined())
    waiting.clear()
  }
  for (const bytes of updates) {
    const summary = readUpdate(bytes)
    expect(isPlain(summary, clocks)).toBe(true)
    advance(summary, clocks)
    if (isSimple(summary)) {
      waiting.add(bytes, summary)
      seen.waited += 1
      seen.most = Math.max(seen.most, waiting.count)
    } else {
      apply()
      Y.applyUpdate(doc, bytes)
    }
    if (waiting.count >= limit) apply()
  }
  apply()
  return { doc, ...seen }
}

it(`[ROOM-27] combined updates that wait to be applied give the same document as single updates (seed ${seed})`, () => {
  let waited = 0
  for (let round = 0; round < 60; round++) {
    const { updates } = randomHistory(seed + round, 80)
    const expected = new Y.Doc()
    const plain: Uint8Array[] = []
    const clocks = new Map<number, number>()
    for (const bytes of updates) {
      const summary = readUpdate(bytes)
      if (!isPlain(summary, clocks)) continue
      advance(summary, clocks)
      plain.push(bytes)
      Y.applyUpdate(expected, bytes)
    }
    for (const limit of [2, 7, 1_000]) {
      const got = applied(plain, limit)
      waited += got.waited
      expect(got.doc.toJSON(), `round ${round}, ${limit} at once`).toEqual(expected.toJSON())
      expect(Y.encodeStateVector(got.doc)).toEqual(Y.encodeStateVector(expected))
      expect(got.doc.store.pendingStructs ?? got.doc.store.pendingDs).toBeNull()
    }
  }
  expect(waited).toBeGreaterThan(1_000)
})

it('[ROOM-27] combined updates give the same document as single updates when several writers insert and delete in turn', () => {
  const docs = [1, 2, 3].map((clientID) => Object.assign(new Y.Doc(), { clientID }))
  const updates: Uint8Array[] = []
  for (const doc of docs) {
    doc.on('update', (bytes: Uint8Array, origin: unknown) => {
      if (origin === 'remote') return
      updates.push(bytes)
      for (const other of docs) if (other !== doc) Y.applyUpdate(other, bytes, 'remote')
    })
  }
  for (let step = 0; step < 200; step++) {
    const text = (docs[step % 3] as Y.Doc).getText('t')
    if (step % 5 === 4 && text.length > 2) text.delete((step * 7) % (text.length - 1), 1)
    else text.insert((step * 11) % (text.length + 1), String.fromCodePoint(97 + (step % 26)))
  }
  const { doc, waited, most } = applied(updates, 64)
  expect(waited).toBe(200)
  expect(most).toBe(64)
  expect(doc.getText('t').toJSON()).toBe((docs[0] as Y.Doc).getText('t').toJSON())
})
