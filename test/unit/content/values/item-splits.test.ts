import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import {
  type ArrayEdit,
  type Insertion,
  splitItems,
} from '../../../../src/core/content/values/item-splits.ts'
import { replaceArray } from '../../../../src/core/content/values/replace-values.ts'
import { integrationStepsMax } from '../../../../src/core/rooms/document/integration-limits.ts'
import { noPlacements, withinBudget } from '../../../../src/core/update/integration.ts'

const key = 'content'
const plain = (value: unknown): Insertion['values'] => [{ as: 'plain', value }]

/** An array of numbers in items of the given lengths, separated by a shared value. */
function arrayOf(lengths: readonly number[]): Y.Doc {
  const doc = new Y.Doc()
  let next = 0
  for (const length of lengths) {
    doc.getArray(key).push(Array.from({ length }, () => next++))
    doc.getArray(key).push([new Y.Map()])
  }
  return doc
}

/** The elements after an edit. */
function outcome(elements: readonly unknown[], { removed, insertions }: ArrayEdit): unknown[] {
  const made: unknown[] = []
  for (let index = -1; index < elements.length; index++) {
    if (index >= 0 && removed[index] === 0) made.push(elements[index])
    for (const { after, values } of insertions)
      if (after === index) made.push(...values.map((value) => (value.as === 'plain' ? value.value : null)))
  }
  return made
}

/** Checks that no edit begins or ends inside an item. */
function expectWhole({ type, removed, insertions }: ArrayEdit): void {
  let index = 0
  for (let item = type._start; item !== null; item = item.right) {
    const end = index + item.length
    expect(new Set(removed.subarray(index, end)).size).toBe(1)
    expect(insertions.filter(({ after }) => after >= index && after < end - 1)).toEqual([])
    index = end
  }
}

const edits = fc.record({
  lengths: fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 4 }),
  removed: fc.array(fc.boolean(), { maxLength: 130 }),
  inserted: fc.uniqueArray(fc.integer({ min: -1, max: 129 }), { maxLength: 20 }),
  budget: fc.integer({ min: 0, max: 400 }),
})

test('[R7] makes an edit with the same result for any limit of item splits, and never exceeds the limit', () => {
  fc.assert(
    fc.property(edits, ({ lengths, removed, inserted, budget }) => {
      const doc = arrayOf(lengths)
      const elements = doc.getArray(key).toArray()
      const type = doc.getArray(key)
      const edit: ArrayEdit = {
        in: 'array',
        type,
        removed: Uint8Array.from(elements, (_, index) => (removed[index] === true ? 1 : 0)),
        insertions: inserted
          .filter((after) => after < elements.length)
          .sort((a, b) => a - b)
          .map((after) => ({ after, values: plain(`after ${after}`) })),
      }
      const left = { shiftedStructs: 1e9, copiedElements: budget }
      // Read before the end of the transaction, in which Yjs joins unnecessary cuts.
      doc.transact((transaction) => {
        const cut = splitItems(transaction, edit, left)
        expect(left.copiedElements).toBeGreaterThanOrEqual(0)
        expect(outcome(elements, cut)).toEqual(outcome(elements, edit))
        expectWhole(cut)
      })
    }),
  )
})

test.each([1_000, 60_000])(
  '[R7] in an array of %i elements that one client inserted at once, many changes cost a receiver less than the limit for one update',
  (count) => {
    for (const nth of [2, 100])
      for (const change of [null, 'new']) {
        const [doc, receiver] = [new Y.Doc(), new Y.Doc()]
        doc.getArray(key).push(Array.from({ length: count }, (_, index) => index))
        Y.applyUpdate(receiver, Y.encodeStateAsUpdate(doc))
        const updates: Uint8Array[] = []
        doc.on('update', (update: Uint8Array) => updates.push(update))
        const target = Array.from({ length: count }, (_, index) =>
          index % nth === 1 ? change : index,
        ).filter((value) => value !== null)
        replaceArray(doc, key, target)
        expect(updates).toHaveLength(1)
        const budget = { doc: receiver, stepsMax: integrationStepsMax, ...noPlacements }
        withinBudget(budget, () => Y.applyUpdate(receiver, updates[0] as Uint8Array))
        expect(receiver.getArray(key).toJSON()).toEqual(target)
      }
  },
)

test('[R7] when an array has too many edits, keeps its longest unchanged passages', () => {
  const doc = new Y.Doc()
  const numbers = Array.from({ length: 1_000 }, (_, index) => index)
  doc.getArray(key).push(numbers)
  const removed = Uint8Array.from(numbers, (index) => (index > 500 && index < 600 && index % 2 === 0 ? 1 : 0))
  removed[100] = 1
  const edit: ArrayEdit = { in: 'array', type: doc.getArray(key), removed, insertions: [] }
  const cut = doc.transact((transaction) =>
    splitItems(transaction, edit, { shiftedStructs: 1e9, copiedElements: 6_000 }),
  )
  const gone = numbers.filter((index) => cut.removed[index] === 1)
  // Deletions up to 520 write their left neighbor again. The others are one range.
  expect(gone).toEqual([99, 100, ...numbers.slice(501, 599).filter((index) => index !== 521)])
  expect(outcome(numbers, cut)).toEqual(outcome(numbers, edit))
})
