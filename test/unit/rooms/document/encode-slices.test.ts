import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { DocumentState } from '../../../../src/core/rooms/document/document-state.ts'
import { encodingSlices } from '../../../../src/core/rooms/document/encode-slices.ts'
import { encodedPerSlice } from '../../../../src/core/rooms/document/integration-limits.ts'
import type { RunSlice } from '../../../../src/core/rooms/document/loop-slices.ts'
import { randomHistory } from '../../../support/data/random-doc.ts'
import { seed } from '../../../support/data/seed.ts'
import { block, contents, item, list, updateOf } from '../../../support/data/update-builder.ts'

const rounds = 60

/** A document with long strings, also of characters that have no encoding of their own. */
function longDoc(): Y.Doc {
  const doc = new Y.Doc()
  for (const [index, word] of ['a', 'é', '漢', '😀', '\ud83d', '\udc00x'].entries())
    doc.getText(`${index}`).insert(0, word.repeat(400_000))
  doc.getText('0').delete(10, 20)
  return doc
}

function encoded(doc: Y.Doc, bytesMax: number): Uint8Array | null | undefined {
  for (const slices = encodingSlices(doc, bytesMax); ; ) {
    const { done, value } = slices.next()
    if (done === true) return value
  }
}

const isSame = (a: Uint8Array | null | undefined, b: Uint8Array): boolean =>
  a !== null && a !== undefined && Buffer.compare(a, b) === 0

it(`[ROOM-72] encodes a document in slices exactly as Yjs does (seed ${seed})`, () => {
  for (let round = 0; round < rounds; round += 1) {
    const doc = new Y.Doc()
    for (const update of randomHistory(seed + round, 80).updates) Y.applyUpdate(doc, update)
    const whole = Y.encodeStateAsUpdate(doc)
    for (const bytesMax of [0, whole.length - 1, whole.length, 2 * whole.length])
      expect(isSame(encoded(doc, bytesMax), whole)).toBe(true)
  }
  const doc = longDoc()
  const whole = Y.encodeStateAsUpdate(doc)
  for (const bytesMax of [0, 1_000_000, whole.length, 2 * whole.length])
    expect(isSame(encoded(doc, bytesMax), whole)).toBe(true)
})

it('[ROOM-72] ends a slice after a number of structs or bytes, and keeps the result for later reads', async () => {
  const many = updateOf([
    block(
      1,
      list(3 * encodedPerSlice.structs, () => item({ parent: 't' }, contents.embed)),
    ),
  ])
  for (const [doc, slices] of [
    [longDoc(), 6],
    [DocumentState.fromBytes(many, { isBounded: false }).doc, 4],
  ] as const) {
    const state = DocumentState.fromBytes(Y.encodeStateAsUpdate(doc))
    void state.doc
    let run = 0
    const count: RunSlice = async (slice) => {
      run += 1
      return slice()
    }
    const { bytes } = await state.encodeIn(count)
    expect(run).toBe(slices)
    expect(state.encode()).toBe(bytes)
    expect(state.isSlowToEncode).toBe(false)
  }
})

it('[ROOM-72] encodes a document that changes between two slices with its change', async () => {
  const state = DocumentState.fromBytes(Y.encodeStateAsUpdate(longDoc()))
  expect(state.isSlowToEncode).toBe(false)
  state.edit((doc) => doc.getMap('m').set('changed', false))
  expect(state.isSlowToEncode).toBe(true)
  let run = 0
  const { bytes } = await state.encodeIn(async (slice) => {
    const result = slice()
    run += 1
    if (run === 2) state.edit((doc) => doc.getMap('m').set('changed', true))
    return result
  })
  expect(run).toBe(2)
  expect(isSame(bytes, Y.encodeStateAsUpdate(state.doc))).toBe(true)
})

it('[ROOM-72] gives up if structs are split between two slices', () => {
  const doc = longDoc()
  const slices = encodingSlices(doc, 0)
  slices.next()
  doc.transact((transaction) => {
    // All texts have the same client, and the last of them is not encoded yet.
    const { client, clock } = doc.store.clients.get(doc.clientID)?.at(-1)?.id ?? Y.createID(0, 0)
    Y.getItemCleanStart(transaction, Y.createID(client, clock + 1))
    let step = slices.next()
    while (step.done !== true) step = slices.next()
    expect(step.value).toBeNull()
  })
})
