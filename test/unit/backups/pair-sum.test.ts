import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import {
  decodePairsInSlices,
  encodePairsInSlices,
  PairSum,
} from '../../../src/capabilities/backups/pair-slices.ts'
import { decodePairs, encodePairs } from '../../../src/capabilities/backups/storage/backup-file.ts'
import type { StoredPage } from '../../../src/core/store/engine.ts'
import { turnsDuring } from '../../support/time/clock.ts'

const page = (count: number, bytes: number) =>
  Array.from(
    { length: count },
    (_, index) => [Buffer.from(`key-${index}`), Buffer.alloc(bytes, index)] as const,
  )

it('[BKP-144] adds pairs in slices, each in one tick, with the same sum for other pages', async () => {
  for (const [count, bytes, ticksMin] of [
    [0, 0, 0],
    [1, 0, 0],
    [20_000, 100, 9],
    [5, 1_000_000, 9],
    [1, 16_000_000, 30],
  ] as const) {
    const [pairs, sum, parts] = [page(count, bytes), new PairSum(), new PairSum()]
    expect(await turnsDuring(() => sum.add(pairs))).toBeGreaterThanOrEqual(ticksMin)
    for (let at = 0; at < count; at += 7_001) await parts.add(pairs.slice(at, at + 7_001))
    const encoded = encodePairs(pairs)
    const digest = sum.end()
    expect([sum.pairs, parts.end(), createHash('sha256').update(encoded).digest('hex')]).toEqual([
      count,
      digest,
      digest,
    ])
    expect(decodePairs(encoded).length).toBe(count)
  }
})

it('[BKP-144] encodes and decodes a chunk of small pairs in slices, each in one tick', async () => {
  const pairs = page(20_000, 60)
  const encoded: { content?: Buffer; pairs?: StoredPage } = {}
  expect(
    await turnsDuring(async () => {
      encoded.content = await encodePairsInSlices(pairs)
    }),
  ).toBeGreaterThanOrEqual(9)
  expect(encoded.content?.equals(encodePairs(pairs))).toBe(true)
  expect(
    await turnsDuring(async () => {
      encoded.pairs = await decodePairsInSlices(encoded.content as Buffer)
    }),
  ).toBeGreaterThanOrEqual(9)
  expect(encoded.pairs).toEqual(decodePairs(encoded.content as Buffer))
})
