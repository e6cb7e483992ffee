import { afterEach, beforeEach, expect, it } from 'vitest'
import { BatchedReads, type ReadSnapshot } from '../../../src/core/store/level/store/reads.ts'
import { openLevelStore, type Store } from '../../../src/core/store/level/store/store.ts'
import { type TemporaryDirectory, temporaryDirectory } from './store-tools.ts'

const key = (name: string | number): Buffer => Buffer.from(`key ${name}`)
const put = (name: string | number, value: string) => ({ key: key(name), value: Buffer.from(value) })

let directory: TemporaryDirectory
let store: Store

beforeEach(async () => {
  directory = await temporaryDirectory()
  store = await openLevelStore(directory.store)
})

afterEach(async () => {
  await store.close()
  await directory.remove()
})

it('[ENG-72] when one tick has several reads, returns to each read the value of its key', async () => {
  const names = Array.from({ length: 300 }, (_, index) => index)
  await store.write(
    names.filter((name) => name % 3 > 0).map((name) => put(name, `value ${name}`)),
    false,
  )
  const moment = store.snapshot()
  for (const reads of [store, moment]) {
    const values = await Promise.all(names.map((name) => reads.get(key(name))))
    expect(values.map((value) => value?.toString())).toEqual(
      names.map((name) => (name % 3 > 0 ? `value ${name}` : undefined)),
    )
  }
  await moment.close()
})

it('[ENG-72] reads all keys of one tick together, and rejects only the read of a damaged value', async () => {
  const asked: number[] = []
  const gathered = new BatchedReads(async (keys) => {
    asked.push(keys.length)
    if (keys.some((each) => each[0] === 7)) throw new Error('damaged')
    return keys.map((each) => Buffer.from(each))
  })
  const reads = [1, 7, 3].map((name) => gathered.get(Uint8Array.of(name)))
  const outcomes = await Promise.allSettled(reads)
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(asked).toEqual([3, 1, 1, 1])
})

it('[ENG-73] a read that starts after a write was acknowledged returns the written value, even if an earlier read of the same tick did not', async () => {
  const [before, after] = await new Promise<readonly [ReadSnapshot, ReadSnapshot]>((resolve) => {
    // A timer runs the test in a tick in which results of the thread arrive before the end of the busy loop.
    setTimeout(() => {
      const first = store.snapshot()
      void store.write([put('new', 'value')], false).then(() => resolve([first, store.snapshot()]))
      for (const end = performance.now() + 100; performance.now() < end; );
    }, 1)
  })
  expect(await before.get(key('new'))).toBeUndefined()
  expect((await after.get(key('new')))?.toString()).toBe('value')
  await Promise.all([before.close(), after.close()])
})
