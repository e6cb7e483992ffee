import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { readUpdate } from '../../../src/core/update/read-update.ts'
import { splitUpdate } from '../../../src/core/update/split-update.ts'
import { randomHistory } from '../../support/data/random-doc.ts'
import { type Block, block, contents, id, item, list, updateOf } from '../../support/data/update-builder.ts'
import { hostileUpdates } from '../../support/faults/hostile-shapes.ts'

const a = contents.text('a')

/** Applies updates one by one, of which none may leave something pending, and returns the state. */
function stateOf(updates: readonly Uint8Array[]): Uint8Array {
  const doc = new Y.Doc()
  for (const update of updates) {
    Y.applyUpdate(doc, update)
    expect([doc.store.pendingStructs, doc.store.pendingDs]).toEqual([null, null])
  }
  return Y.encodeStateAsUpdate(doc)
}

const sizeOf = (update: Uint8Array): number => {
  const { structs, deletes } = readUpdate(update)
  return structs + deletes
}

it('[UPD-34] splits any state into small updates that depend only on earlier ones, with the result of the state', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1e6 }),
      fc.integer({ min: 2, max: 60 }),
      fc.integer({ min: 1, max: 9 }),
      (seed, steps, partsMax) => {
        const whole = stateOf([Y.mergeUpdates([...randomHistory(seed, steps).updates])])
        const parts = splitUpdate(whole, partsMax)
        expect(Math.max(...parts.map(sizeOf))).toBeLessThanOrEqual(partsMax)
        expect(Buffer.compare(stateOf(parts), whole)).toBe(0)
      },
    ),
  )
})

it('[UPD-34] ends an update at a given number of bytes', () => {
  const whole = updateOf([
    block(
      1,
      list(9, (i) => item({ parent: `t${i}` }, contents.text('x'.repeat(1_000)))),
    ),
  ])
  const parts = splitUpdate(whole, 100, 2_500)
  expect(parts.map((part) => readUpdate(part).structs)).toEqual([3, 3, 3])
  expect(Buffer.compare(stateOf(parts), whole)).toBe(0)
})

it('[UPD-34] splits a state of many clients into updates of few clients each', () => {
  const clients = splitUpdate(updateOf(list(1_000, (i) => block(1_000 - i, [item({}, a)]))), 100).map(
    (part) => readUpdate(part).clients.length,
  )
  expect(Math.max(...clients)).toBe(20)
})

const chained = (n: number, before: (client: number) => number): Uint8Array =>
  updateOf(
    list(n, (i): Block => {
      const client = n - i
      const left = before(client)
      return block(client, [item(left < 1 || left > n ? {} : { left: id(left, 0) }, a)])
    }),
  )

it.each([
  ['clients, each of which depends on the one below', [chained(1_000, (client) => client - 1)]],
  ['clients, each of which depends on the one above', [chained(1_000, (client) => client + 1)]],
  ['clients with deletions', hostileUpdates.deletingClients(1_000)],
  ['items that were inserted before each other', hostileUpdates.alternateItemDeletions(500).slice(0, 2)],
])('[UPD-34] splits a state of %s', (_name, updates) => {
  const whole = stateOf(updates)
  const parts = splitUpdate(whole, 100)
  expect(Math.max(...parts.map(sizeOf))).toBeLessThanOrEqual(100)
  expect(Buffer.compare(stateOf(parts), whole)).toBe(0)
})

it('[UPD-34] returns a state whose structs depend on each other in a circle, and bytes that are not an update, as they are', () => {
  const [circular = new Uint8Array(2)] = hostileUpdates.circularClients(10)
  expect(splitUpdate(circular, 4)).toEqual([circular])
  const cut = circular.subarray(0, -1)
  expect(splitUpdate(cut, 4)).toEqual([cut])
})
