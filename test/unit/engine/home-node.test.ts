import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { homeNodeOf } from '../../../src/cluster/postgres/cluster/home-node.ts'
import { bucketCount, bucketOf } from '../../../src/core/store/buckets.ts'

const buckets = Array.from({ length: bucketCount }, (_, bucket) => bucket)
const nodeNames = (count: number): string[] => Array.from({ length: count }, (_, index) => `node-${index}`)
const homes = (nodes: readonly string[]): string[] => buckets.map((bucket) => homeNodeOf(bucket, nodes))

it('[CL-18] assigns a document to the same bucket in every version of the server', () => {
  const docs = [
    ['ws', 'key', 'acme', 'notes'],
    ['ws', 'key', 'acme', 'notes', 'main'],
    ['a'],
    ['a', ''],
    [''],
    ['ä', '\u{1f9f5}'],
    ['ab', 'c'],
    ['a', 'bc'],
  ]
  expect(docs.map((doc) => bucketOf(doc))).toEqual([291, 291, 827, 647, 224, 537, 14, 946])
  const pinned = [0, 1, 2, 3, 1_023].map((bucket) => homeNodeOf(bucket, ['a', 'b', 'c']))
  expect(pinned).toEqual(['b', 'c', 'b', 'b', 'a'])
})

it('[CL-18] uses buckets evenly, and gives each node a nearly equal share of them', () => {
  const used = new Map<number, number>()
  const count = 4 * bucketCount
  for (let index = 0; index < count; index++) {
    const bucket = bucketOf(['ws', 'key', 'acme', `document ${index}`, 'main'])
    used.set(bucket, (used.get(bucket) ?? 0) + 1)
  }
  // With 4 on average, a share of e⁻⁴ has none.
  expect([...used.keys()].every((bucket) => bucket >= 0 && bucket < bucketCount)).toBe(true)
  expect(used.size).toBeGreaterThan(0.97 * bucketCount)
  expect(Math.max(...used.values())).toBeLessThan(25)
  const found = homes(nodeNames(7))
  for (const node of nodeNames(7)) {
    const share = (found.filter((home) => home === node).length * 7) / bucketCount
    expect(share > 0.8 && share < 1.2).toBe(true)
  }
})

it('[CL-18] when a node joins or leaves, moves only the buckets of this node', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 6 }), fc.string(), (nodes, other) => {
      fc.pre(!nodes.includes(other))
      for (let bucket = 0; bucket < bucketCount; bucket += 61) {
        const [before, after] = [homeNodeOf(bucket, nodes), homeNodeOf(bucket, [...nodes, other].reverse())]
        expect(after === before || after === other).toBe(true)
      }
    }),
  )
})
