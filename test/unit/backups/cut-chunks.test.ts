import { crc32 } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutChunks } from '../../../src/capabilities/backups/pair-slices.ts'
import type { StoredPage } from '../../../src/core/store/engine.ts'
import { seed } from '../../support/data/seed.ts'

const sizes = { minBytes: 1_000, spreadBytes: 1_000, maxBytes: 4_000 }

type Pair = StoredPage[number]

const bytesIn = (page: StoredPage): number =>
  page.reduce((sum, [key, value]) => sum + key.length + value.length, 0)

const sumOf = (page: StoredPage): number =>
  page.reduce((sum, [key, value]) => crc32(value, crc32(key, sum)), 0)

async function cut(pairs: readonly Pair[], pageLength: number): Promise<readonly StoredPage[]> {
  async function* pages(): AsyncGenerator<StoredPage> {
    for (let at = 0; at < pairs.length; at += pageLength) yield pairs.slice(at, at + pageLength)
  }
  const chunks: StoredPage[] = []
  for await (const chunk of cutChunks(pages(), sizes)) chunks.push(chunk)
  return chunks
}

const somePairs = fc
  .uniqueArray(fc.tuple(fc.stringMatching(/^[a-e]{1,12}$/), fc.oneof(fc.nat(300), fc.nat(9_000))), {
    selector: ([key]) => key,
    maxLength: 120,
  })
  .map((found) => found.toSorted().map(([key, size]): Pair => [Buffer.from(key), Buffer.alloc(size, key)]))

describe(`random pairs (seed ${seed})`, () => {
  it('[BKP-2] cuts into chunks with all pairs in their order, of a bounded size unless one pair is larger', async () => {
    const property = fc.asyncProperty(somePairs, fc.integer({ min: 1, max: 40 }), async (pairs, length) => {
      const chunks = await cut(pairs, length)
      expect(chunks.flat()).toEqual(pairs)
      for (const chunk of chunks)
        expect(chunk.length === 1 || bytesIn(chunk) <= sizes.maxBytes, `${bytesIn(chunk)}`).toBe(true)
      expect(await cut(pairs, 7)).toEqual(chunks)
    })
    await fc.assert(property, { numRuns: 200 })
  })

  it('[BKP-3] a change of one pair changes few chunks', async () => {
    const pairs = Array.from({ length: 1_500 }, (_, index): Pair => {
      const key = Buffer.from(`key-${String(index * 7 + seed).padStart(9, '0')}`)
      return [key, Buffer.alloc(40 + (index % 90), String(index))]
    })
    const before = await cut(pairs, 64)
    expect(before.length).toBeGreaterThan(40)
    const names = new Set(before.map(sumOf))
    const property = fc.asyncProperty(fc.nat(pairs.length - 1), fc.nat(5_000), async (index, size) => {
      const changed = pairs.with(index, [pairs[index]?.[0] as Uint8Array, Buffer.alloc(size, 'n')])
      const fresh = (await cut(changed, 50)).filter((chunk) => !names.has(sumOf(chunk)))
      // On average 2; the boundaries are the same again after a few chunks.
      expect(fresh.length).toBeLessThan(16)
    })
    await fc.assert(property, { numRuns: 40 })
  })
})
