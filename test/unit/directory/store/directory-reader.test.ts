import { expect, it } from 'vitest'
import { CachingDirectoryReader } from '../../../../src/core/directory/store/directory-reader.ts'
import type { Key } from '../../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../../src/core/store/memory/engine.ts'
import { encodeRecord } from '../../../../src/core/store/stored-record.ts'
import { countReads } from '../../../support/stores/counted-store.ts'

const part: Key = ['part']
const numbers = Array.from({ length: 2_500 }, (_, number) => number)
/** Every third record is missing. */
const recordOf = (number: number) => (number % 3 === 0 ? null : { number })

it('[PERM-13] caches the thousand most recently used records, and returns all requested records', async () => {
  const { engine, reads } = countReads(await openMemoryEngine())
  const there = numbers.filter((number) => recordOf(number) !== null)
  const puts = there.map((number) => ({ key: [`${number}`], value: encodeRecord({ number }) }))
  await engine.kv.commit(part, { puts })
  const reader = new CachingDirectoryReader(engine.kv, part)
  const readsOf = async (of: readonly number[]) => {
    const before = reads()
    expect(await reader.getAll(of.map((number) => [`${number}`]))).toEqual(of.map(recordOf))
    return reads() - before
  }
  expect(await readsOf([7, 7, 9, 7])).toBe(2)
  expect(await readsOf(numbers)).toBe(2_498)
  expect(await readsOf(numbers.slice(-1_000))).toBe(0)
  expect(await readsOf([7])).toBe(1)
  expect(await readsOf([1_500])).toBe(1)
  expect(await readsOf([1_502, 7])).toBe(0)
  await engine.close()
})
